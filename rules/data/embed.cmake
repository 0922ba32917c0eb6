# Writes OUTPUT, a C++ file that defines dtype_guard::FUNCTION() with the text of FILES ("|"-separated, below BASE), by
# their names, or with FOLDERS by their paths below BASE.
cmake_policy(VERSION 3.25)
string(REPLACE "|" ";" files "${FILES}")
set(rows "")
foreach(file IN LISTS files)
  file(READ "${BASE}/${file}" text)
  set(name "${file}")
  if(NOT FOLDERS)
    get_filename_component(name "${file}" NAME)
  endif()
  string(APPEND rows "    {\"${name}\", R\"data_file(${text})data_file\"},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Generated from the data files named below; edit those.
#include \"rules/data/embedded.h\"

namespace dtype_guard {

std::span<const EmbeddedFile> ${FUNCTION}() {
  static constexpr EmbeddedFile files[] = {
${rows}  };
  return files;
}

}  // namespace dtype_guard
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
