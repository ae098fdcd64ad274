# Every case of the unit tests is run by one of the tests unit_<file>.
# Usage: cmake -DPROGRAM=<mortise_tests> "-DFILES=<test_a.cpp;test_b.cpp>" -P unit_count.cmake
cmake_minimum_required(VERSION 3.25)

function(count cases)
  execute_process(COMMAND ${PROGRAM} --count --no-colors=true --test-suite-exclude=long ${ARGN}
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text MATCHES "passing the current filters: ([0-9]+)")
    message(FATAL_ERROR "it does not tell how many cases it has:\n${text}")
  endif()
  set(${cases} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

count(all)
set(sum 0)
foreach(file ${FILES})
  count(some --source-file=*/${file})
  if(some EQUAL 0)
    message(FATAL_ERROR "the test of ${file} runs no case")
  endif()
  math(EXPR sum "${sum} + ${some}")
endforeach()
if(NOT sum EQUAL all)
  message(FATAL_ERROR "there are ${all} cases, but the tests of the files run ${sum}: put cases into files test_*.cpp")
endif()
message(STATUS "${all} cases")
