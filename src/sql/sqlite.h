/* SQLite as this folder sees it. Its files are compiled twice: into dse, which calls SQLite, and into the extension dse.so,
 * which calls whatever SQLite has loaded it, through the table of functions that it hands over. */
#ifndef DSE_SQL_SQLITE_H
#define DSE_SQL_SQLITE_H

#ifdef DSE_SQL_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#endif
