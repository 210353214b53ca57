// SQLite as the system has it; used by Sources/ProbeCore/Linux/Database.swift alone.
#include <sqlite3.h>
