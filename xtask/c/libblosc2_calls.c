/* Calls the functions of libblosc2 that are done, right and wrong, to be run under valgrind.
   Prints the number of calls; ends with 1 at the first result that is not expected. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "b2nd.h"
#include "blosc2.h"

#define NBYTES 50000

static int ncalls;

#define EXPECT(condition)                                              \
  do {                                                                 \
    ncalls++;                                                          \
    if (!(condition)) {                                                \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);          \
      return 1;                                                        \
    }                                                                  \
  } while (0)

static int invert_before(blosc2_prefilter_params *p) {
  for (int i = 0; i < p->output_size; i++) p->output[i] = (uint8_t)~p->input[i];
  memset(p->ttmp, 1, p->ttmp_nbytes);
  return 0;
}

static int invert_after(blosc2_postfilter_params *p) {
  for (int i = 0; i < p->size; i++) p->output[i] = (uint8_t)~p->input[i];
  memset(p->ttmp, 1, p->ttmp_nbytes);
  return 0;
}

static int fail_after(blosc2_postfilter_params *p) { return p->nblock == 1 ? -1 : 0; }

static uint8_t data[NBYTES], chunk[NBYTES + 32], back[NBYTES];

static int names(void) {
  const char *name;
  char *library, *version;
  EXPECT(strcmp(blosc2_get_version_string(), "3.3.5") == 0);
  EXPECT(blosc2_compcode_to_compname(BLOSC_LZ4, &name) == BLOSC_LZ4 && strcmp(name, "lz4") == 0);
  EXPECT(blosc2_compcode_to_compname(99, &name) == -1 && name == NULL);
  EXPECT(blosc2_compname_to_compcode("zstd") == BLOSC_ZSTD);
  EXPECT(blosc2_get_complib_info("zlib", &library, &version) == BLOSC_ZLIB_LIB);
  free(library);
  free(version);
  EXPECT(strcmp(blosc2_list_compressors(), "blosclz,lz4,lz4hc,zlib,zstd") == 0);
  EXPECT(strcmp(print_error(BLOSC2_ERROR_INVALID_HEADER), "Invalid value in header") == 0);
  return 0;
}

static int process(void) {
  size_t nbytes, cbytes, blocksize, typesize;
  int flags, version, versionlz;
  int32_t n32, c32, b32;
  EXPECT(blosc2_set_nthreads(2) == 1 && blosc2_get_nthreads() == 2);
  EXPECT(blosc1_set_compressor("lz4") == BLOSC_LZ4);
  blosc1_set_blocksize(4096);
  blosc1_set_splitmode(BLOSC_NEVER_SPLIT);
  blosc2_set_delta(1);
  int size = blosc1_compress(5, BLOSC_SHUFFLE, 4, NBYTES, data, chunk, sizeof chunk);
  EXPECT(size > 0);
  EXPECT(blosc1_decompress(chunk, back, NBYTES) == NBYTES && memcmp(data, back, NBYTES) == 0);
  EXPECT(blosc1_getitem(chunk, 100, 10, back) == 40 && memcmp(data + 400, back, 40) == 0);
  EXPECT(blosc2_getitem(chunk, size, 100, 10, back, 40) == 40);
  EXPECT(blosc1_cbuffer_validate(chunk, (size_t)size, &nbytes) == 0 && nbytes == NBYTES);
  blosc1_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  EXPECT(cbytes == (size_t)size && blocksize == 4096);
  EXPECT(blosc2_cbuffer_sizes(chunk, &n32, &c32, &b32) == 0 && c32 == size);
  blosc1_cbuffer_metainfo(chunk, &typesize, &flags);
  blosc2_cbuffer_versions(chunk, &version, &versionlz);
  EXPECT(typesize == 4 && version == 5 && strcmp(blosc2_cbuffer_complib(chunk), "LZ4") == 0);
  size = blosc2_compress(9, BLOSC_BITSHUFFLE, 8, data, NBYTES, chunk, sizeof chunk);
  EXPECT(blosc2_decompress(chunk, size, back, NBYTES) == NBYTES);
  EXPECT(blosc2_free_resources() == 0);
  blosc2_destroy();
  return 0;
}

static int contexts(int nthreads, int compcode) {
  blosc2_prefilter_params before = {0};
  blosc2_postfilter_params after = {0};
  blosc2_cparams cparams = blosc2_get_blosc2_cparams_defaults();
  blosc2_dparams dparams = blosc2_get_blosc2_dparams_defaults();
  bool mask[13] = {false, true};
  cparams.typesize = 4;
  cparams.blocksize = 4096;
  cparams.compcode = (uint8_t)compcode;
  cparams.nthreads = dparams.nthreads = (int16_t)nthreads;
  cparams.prefilter = invert_before;
  cparams.preparams = &before;
  dparams.postfilter = invert_after;
  dparams.postparams = &after;
  blosc2_context *c = blosc2_create_cctx(cparams), *d = blosc2_create_dctx(dparams);
  int size = blosc2_compress_ctx(c, data, NBYTES, chunk, sizeof chunk);
  EXPECT(size > 0);
  EXPECT(blosc2_decompress_ctx(d, chunk, size, back, NBYTES) == NBYTES);
  EXPECT(memcmp(data, back, NBYTES) == 0);
  EXPECT(blosc2_getitem_ctx(d, chunk, size, 1000, 100, back, 400) == 400);
  EXPECT(memcmp(data + 4000, back, 400) == 0);
  EXPECT(blosc2_getitem_bytes_ctx(d, chunk, size, 8, 8, back, 8) == 8);
  EXPECT(blosc2_set_maskout(d, mask, 13) == 0);
  EXPECT(blosc2_decompress_ctx(d, chunk, size, back, NBYTES) == NBYTES);
  EXPECT(blosc2_ctx_get_cparams(c, &cparams) == 0 && cparams.blocksize == 4096);
  EXPECT(blosc2_ctx_get_dparams(d, &dparams) == 0 && dparams.nthreads == nthreads);
  EXPECT(blosc2_compress_ctx(c, data, NBYTES, chunk, 100) <= 0);
  EXPECT(blosc2_compress_ctx(d, data, NBYTES, chunk, 100) == BLOSC2_ERROR_INVALID_PARAM);
  EXPECT(blosc2_decompress_ctx(d, NULL, size, back, NBYTES) < 0);
  EXPECT(blosc2_decompress_ctx(NULL, chunk, size, back, NBYTES) < 0);
  blosc2_free_ctx(c);
  blosc2_free_ctx(d);
  blosc2_free_ctx(NULL);
  dparams.postfilter = fail_after;
  d = blosc2_create_dctx(dparams);
  EXPECT(blosc2_chunk_zeros(cparams, NBYTES, chunk, 32) == 32);
  EXPECT(blosc2_decompress_ctx(d, chunk, 32, back, NBYTES) == BLOSC2_ERROR_POSTFILTER);
  EXPECT(blosc2_chunk_nans(cparams, NBYTES, chunk, 32) == 32);
  EXPECT(blosc2_chunk_uninit(cparams, NBYTES, chunk, 32) == 32);
  EXPECT(blosc2_chunk_repeatval(cparams, NBYTES, chunk, 36, "abcd") == 36);
  EXPECT(blosc2_chunk_repeatval(cparams, NBYTES, chunk, 35, "abcd") < 0);
  blosc2_free_ctx(d);
  return 0;
}

static int blocks(void) {
  blosc2_context *c = blosc2_create_cctx(blosc2_get_blosc2_cparams_defaults());
  blosc2_context *d = blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults());
  const void *srcs[3] = {data, data + 100, data + 9};
  int32_t sizes[3] = {3000, 20, 1}, found[4], n;
  void *dests[4];
  uint8_t *one;
  int size = blosc2_vlcompress_ctx(c, srcs, sizes, 3, chunk, sizeof chunk);
  EXPECT(size > 0);
  EXPECT(blosc2_vlchunk_get_nblocks(chunk, size, &n) == 0 && n == 3);
  EXPECT(blosc2_vldecompress_ctx(d, chunk, size, dests, found, 4) == 3);
  for (int i = 0; i < 3; i++) {
    EXPECT(found[i] == sizes[i] && memcmp(dests[i], srcs[i], (size_t)sizes[i]) == 0);
    free(dests[i]);
  }
  EXPECT(blosc2_vldecompress_block_ctx(d, chunk, size, 1, &one, &n) == 20);
  free(one);
  EXPECT(blosc2_vldecompress_block_ctx(d, chunk, size, 3, &one, &n) < 0);
  EXPECT(blosc2_vldecompress_ctx(d, chunk, size, dests, found, 2) < 0);
  for (int at = 0; at < size && at < 120; at++) {
    chunk[at] ^= 0xff;
    int code = blosc2_vldecompress_ctx(d, chunk, size, dests, found, 4);
    for (int i = 0; i < code; i++) free(dests[i]);
    chunk[at] ^= 0xff;
  }
  blosc2_free_ctx(c);
  blosc2_free_ctx(d);
  return 0;
}

static int damage(void) {
  blosc2_context *c = blosc2_create_cctx(blosc2_get_blosc2_cparams_defaults());
  blosc2_context *d = blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults());
  int size = blosc2_compress_ctx(c, data, 5000, chunk, 5032);
  EXPECT(size > 0);
  for (int at = 0; at < size; at++) {
    uint8_t *copy = malloc((size_t)size);
    memcpy(copy, chunk, (size_t)size);
    copy[at] ^= 0x81;
    EXPECT(blosc2_decompress_ctx(d, copy, size, back, 5000) <= 5000);
    EXPECT(blosc2_getitem_ctx(d, copy, size, 10, 5, back, 2000) <= 2000);
    EXPECT(blosc2_decompress_ctx(d, copy, at, back, 5000) < 0);
    free(copy);
  }
  blosc2_free_ctx(c);
  blosc2_free_ctx(d);
  return 0;
}

static int filters(void) {
  EXPECT(blosc2_shuffle(4, 4000, data, chunk) == 4000);
  EXPECT(blosc2_unshuffle(4, 4000, chunk, back) == 4000 && memcmp(data, back, 4000) == 0);
  EXPECT(blosc2_bitshuffle(8, 4001, data, chunk) == 4001);
  EXPECT(blosc2_bitunshuffle(8, 4001, chunk, back) == 4001 && memcmp(data, back, 4001) == 0);
  EXPECT(blosc2_shuffle(0, 4000, data, chunk) < 0 && blosc2_shuffle(4, 40, NULL, chunk) < 0);
  return 0;
}

static blosc2_storage storage_of(blosc2_cparams *cparams, bool contiguous) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  cparams->typesize = 4;
  cparams->compcode = BLOSC_LZ4;
  storage.cparams = cparams;
  storage.contiguous = contiguous;
  return storage;
}

/* Super-chunks in memory, in a buffer, in a file; damaged frames. */
static int schunks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  uint8_t *frame, *lazy;
  bool needs_free;
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    blosc2_storage storage = storage_of(&cparams, contiguous);
    blosc2_schunk *schunk = blosc2_schunk_new(&storage);
    EXPECT(schunk != NULL && schunk->chunksize == -1);
    for (int n = 1; n < 4; n++) EXPECT(blosc2_schunk_append_buffer(schunk, data, NBYTES) == n);
    EXPECT(blosc2_schunk_append_buffer(schunk, data, -1) < 0);
    EXPECT(blosc2_schunk_append_buffer(schunk, NULL, 100) < 0);
    int n = blosc2_schunk_get_lazychunk(schunk, 2, &lazy, &needs_free);
    EXPECT(n > 0 && blosc2_decompress_ctx(schunk->dctx, lazy, n, back, NBYTES) == NBYTES);
    EXPECT(memcmp(back, data, NBYTES) == 0);
    EXPECT(blosc2_schunk_get_lazychunk(schunk, 3, &lazy, &needs_free) < 0);
    int64_t len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
    EXPECT(len > 0 && needs_free == !contiguous);
    uint8_t *copy = malloc(len);
    memcpy(copy, frame, len);
    if (needs_free) free(frame);
    EXPECT(blosc2_schunk_free(schunk) == 0);
    for (int owned = 0; owned < 2; owned++) {
      blosc2_schunk *again = blosc2_schunk_from_buffer(copy, len, owned);
      EXPECT(again != NULL && again->nchunks == 3);
      EXPECT(blosc2_schunk_append_buffer(again, data, NBYTES) == 4);
      EXPECT(blosc2_schunk_free(again) == 0);
      EXPECT(blosc2_schunk_from_buffer(copy, len - 1, owned) == NULL);
    }
    for (int64_t at = 0; at < len; at += at < 100 ? 1 : 7) {
      copy[at] ^= 0x81;
      blosc2_schunk *damaged = blosc2_schunk_from_buffer(copy, len, at % 2);
      ncalls++;
      if (damaged != NULL) {
        n = blosc2_schunk_get_lazychunk(damaged, 1, &lazy, &needs_free);
        if (n > 0) blosc2_decompress_ctx(damaged->dctx, lazy, n, back, NBYTES);
        if (n > 0 && needs_free) free(lazy);
        blosc2_schunk_free(damaged);
      }
      copy[at] ^= 0x81;
    }
    FILE *file = fopen("calls.b2frame", "wb");
    EXPECT(file != NULL && fwrite(data, 1, 100, file) == 100);
    EXPECT(fwrite(copy, 1, len, file) == (size_t)len && fclose(file) == 0);
    blosc2_schunk *stored = blosc2_schunk_open_offset("calls.b2frame", 100);
    EXPECT(stored != NULL && blosc2_schunk_open_offset("calls.b2frame", 99) == NULL);
    n = blosc2_schunk_get_lazychunk(stored, 1, &lazy, &needs_free);
    EXPECT(n > 0 && needs_free);
    EXPECT(blosc2_decompress_ctx(stored->dctx, lazy, n, back, NBYTES) == NBYTES);
    EXPECT(memcmp(back, data, NBYTES) == 0);
    for (int at = 0; at < n; at++) {
      lazy[at] ^= 0x81;
      blosc2_decompress_ctx(stored->dctx, lazy, n, back, NBYTES);
      blosc2_getitem_ctx(stored->dctx, lazy, n, 3, 4, back, NBYTES);
      lazy[at] ^= 0x81;
      ncalls++;
    }
    free(lazy);
    EXPECT(blosc2_schunk_free(stored) == 0);
    remove("calls.b2frame");
    free(copy);
  }
  EXPECT(blosc2_schunk_free(NULL) < 0 && blosc2_schunk_append_buffer(NULL, data, 4) < 0);
  return 0;
}

/* Arrays and parts of them. */
static int arrays(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  int64_t shape[2] = {100, 125}, start[2] = {3, 5}, stop[2] = {90, 100}, part[2] = {87, 95};
  int32_t chunks[2] = {40, 50}, blocks[2] = {9, 20};
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    blosc2_storage storage = storage_of(&cparams, contiguous);
    b2nd_context_t *ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, NULL, 0, NULL, 0);
    b2nd_array_t *array, *again;
    EXPECT(ctx != NULL && b2nd_from_cbuffer(ctx, &array, data, NBYTES - 1) < 0);
    EXPECT(b2nd_from_cbuffer(ctx, &array, data, NBYTES) == 0 && b2nd_free_ctx(ctx) == 0);
    EXPECT(b2nd_get_slice_cbuffer(array, start, stop, back, part, NBYTES) == 0);
    for (int row = 0; row < 87; row++)
      EXPECT(memcmp(back + row * 380, data + (row + 3) * 500 + 20, 380) == 0);
    EXPECT(b2nd_get_slice_cbuffer(array, start, stop, back, part, 87 * 380 - 1) < 0);
    uint8_t *frame;
    int64_t len;
    bool needs_free;
    EXPECT(b2nd_to_cframe(array, &frame, &len, &needs_free) == 0);
    blosc2_schunk *schunk = blosc2_schunk_from_buffer(frame, len, true);
    EXPECT(schunk != NULL && b2nd_from_schunk(schunk, &again) == 0);
    int64_t zero[2] = {0, 0};
    EXPECT(b2nd_get_slice_cbuffer(again, zero, shape, back, shape, NBYTES) == 0);
    EXPECT(memcmp(back, data, NBYTES) == 0);
    EXPECT(b2nd_free(again) == 0);
    if (needs_free) free(frame);
    EXPECT(b2nd_free(array) == 0);
    EXPECT(b2nd_copy_buffer(2, 4, data, shape, start, stop, back, part, zero) == 0);
  }
  EXPECT(b2nd_free(NULL) < 0 && b2nd_free_ctx(NULL) < 0);
  return 0;
}

int main(void) {
  blosc2_init();
  for (int i = 0; i < NBYTES; i++) data[i] = (uint8_t)(i % 4 ? 0 : i / 4 % 251);
  int failed = names() || process() || blocks() || damage() || filters() || schunks() || arrays();
  for (int codec = 0; codec < 6 && !failed; codec++)
    if (codec != 3) failed = contexts(1, codec) || contexts(3, codec);
  printf("%d calls\n", ncalls);
  blosc2_destroy();
  return failed;
}
