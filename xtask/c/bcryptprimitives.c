/* The one function of Windows' bcryptprimitives.dll that Rust's standard library calls. Wine before 8.3 has no such library. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG nbytes);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T nbytes)
{
    return SystemFunction036(bytes, (ULONG)nbytes);
}
