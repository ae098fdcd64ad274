# Installs the build, then configures, builds and runs a project of its own that finds it there, without Boost
# and toml++.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${WORK}/prefix
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/outside -B ${WORK}/build -G ${GENERATOR}
                -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_FLAGS=${FLAGS}
                -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON -DFILES=${FILES}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --config "${CONFIG}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/outside COMMAND_ERROR_IS_FATAL ANY)

# Installed headers include only installed ones, and no header of what users need not have.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*.h)
foreach(header ${headers})
  file(STRINGS ${WORK}/prefix/include/${header} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"](mortise|boost|toml|CLI)")
  foreach(line ${lines})
    string(REGEX REPLACE ".*[<\"]([^>\"]+)[>\"].*" "\\1" path "${line}")
    if(NOT EXISTS ${WORK}/prefix/include/${path})
      message(FATAL_ERROR "installed ${header} has the line: ${line}")
    endif()
  endforeach()
endforeach()

# Of the folder files users get these headers.
if(FILES)
  execute_process(COMMAND ${WORK}/build/outside_files WORKING_DIRECTORY ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix ${WORK}/prefix/*/mortise/files/*)
  list(SORT headers)
  list(TRANSFORM headers REPLACE "include/mortise/files/" "")
  if(NOT headers STREQUAL "fix.h;limits.h;model.h;robot.h")
    message(FATAL_ERROR "installed of the folder files: ${headers}")
  endif()
endif()
