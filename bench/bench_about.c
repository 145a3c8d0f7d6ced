/* What the benches were built with, in words: "gcc 12.2.0, SQLite 3.40.1". */
#include <sqlite3.h>
#include <stdio.h>

int main(void)
{
#ifdef __clang__
    printf("clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    printf("gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    printf(", SQLite %s\n", sqlite3_libversion());
    return 0;
}
