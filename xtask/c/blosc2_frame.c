/* A file to a contiguous frame of C-Blosc2 and back, with all threads of the library: what
   `b2 c` and `b2 d` do, as a C program over libblosc2. For `cargo xtask bench-programs`.

   blosc2_frame compress SOURCE TARGET CODEC LEVEL TYPESIZE
   blosc2_frame decompress SOURCE TARGET */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blosc2.h"

#define CHUNK (1 << 20)

static int fail(const char *what) {
  fprintf(stderr, "blosc2_frame: %s\n", what);
  return 1;
}

static int16_t cores(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return (int16_t)(count > 0 ? count : 1);
}

static int compress(char **args, char *buffer) {
  FILE *source = fopen(args[0], "rb");
  if (source == NULL) return fail("cannot open the source");
  setvbuf(source, NULL, _IONBF, 0);
  int codec = blosc2_compname_to_compcode(args[2]);
  if (codec < 0) return fail("no such codec");
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)codec;
  cparams.clevel = (uint8_t)atoi(args[3]);
  cparams.typesize = atoi(args[4]);
  cparams.nthreads = cores();
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.urlpath = args[1];
  storage.cparams = &cparams;
  remove(args[1]);
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  if (schunk == NULL) return fail("no frame");
  size_t nbytes;
  while ((nbytes = fread(buffer, 1, CHUNK, source)) > 0) {
    if (blosc2_schunk_append_buffer(schunk, buffer, (int32_t)nbytes) < 0) return fail("append");
  }
  if (ferror(source)) return fail("cannot read");
  blosc2_schunk_free(schunk);
  return 0;
}

static int decompress(char **args, char *buffer) {
  blosc2_schunk *schunk = blosc2_schunk_open(args[0]);
  if (schunk == NULL) return fail("cannot open the frame");
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = cores();
  dparams.schunk = schunk;
  blosc2_free_ctx(schunk->dctx);
  schunk->dctx = blosc2_create_dctx(dparams);
  FILE *target = fopen(args[1], "wb");
  if (target == NULL) return fail("cannot open the target");
  setvbuf(target, NULL, _IONBF, 0);
  for (int64_t nchunk = 0; nchunk < schunk->nchunks; nchunk++) {
    int nbytes = blosc2_schunk_decompress_chunk(schunk, nchunk, buffer, CHUNK);
    if (nbytes < 0) return fail("decompress");
    if (fwrite(buffer, 1, (size_t)nbytes, target) != (size_t)nbytes) return fail("cannot write");
  }
  blosc2_schunk_free(schunk);
  return fclose(target) == 0 ? 0 : fail("cannot close");
}

int main(int argc, char **argv) {
  char *buffer = malloc(CHUNK);
  if (buffer == NULL) return fail("no memory");
  blosc2_init();
  int code = 2;
  if (argc == 7 && strcmp(argv[1], "compress") == 0) {
    code = compress(argv + 2, buffer);
  } else if (argc == 4 && strcmp(argv[1], "decompress") == 0) {
    code = decompress(argv + 2, buffer);
  } else {
    fprintf(stderr, "usage: blosc2_frame compress SOURCE TARGET CODEC LEVEL TYPESIZE\n"
                    "       blosc2_frame decompress SOURCE TARGET\n");
  }
  blosc2_destroy();
  free(buffer);
  return code;
}
