# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=x.cpp -DFILES="001_a.sql|002_b.sql" -P embed_sql.cmake: the migrations as C++ strings. Numbers must be 1, 2, 3, ...
string(REPLACE "|" ";" files "${FILES}")
set(entries "")
set(expected 0)
foreach(file IN LISTS files)
  math(EXPR expected "${expected} + 1")
  get_filename_component(name "${file}" NAME)
  if(NOT name MATCHES "^([0-9][0-9][0-9])_[a-z0-9_]+\\.sql$")
    message(FATAL_ERROR "${name}: a migration is called NNN_name.sql")
  endif()
  math(EXPR number "1${CMAKE_MATCH_1} - 1000")
  if(NOT number EQUAL expected)
    message(FATAL_ERROR "${name}: expected migration number ${expected}")
  endif()
  file(READ "${file}" text)
  if(text MATCHES "\\)sql\"")
    message(FATAL_ERROR "${name}: contains the end of a raw string")
  endif()
  string(APPEND entries "    {${number}, \"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// SPDX-License-Identifier: Apache-2.0
// Generated from resources/sql by embed_sql.cmake.
#include \"core/store/detail/migrations.h\"

namespace assay::store::detail {

namespace {
constexpr Migration kMigrations[] = {
${entries}};
} // namespace

std::span<const Migration> migrations() { return kMigrations; }

} // namespace assay::store::detail
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
