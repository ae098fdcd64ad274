# layers.cmake must fail on the fixture tree, naming every bad line and no good file.
cmake_minimum_required(VERSION 3.25)
set(here ${CMAKE_CURRENT_LIST_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${here}/layers_bad -P ${here}/layers.cmake
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "layers.cmake accepted the bad fixture tree")
endif()
foreach(bad core/bad.h:2 joints/bad.h:4 joints/bad.h:5 integrators/bad.h:2 files/bad.h:2 forces/bad_quoted.h:3 engine/bad.cpp:2 engine/bad.cpp:3 diagnosis/bad.cpp:2 solve/bad.cpp:2
            assembly/bad.h:2 assembly/bad.h:3 assembly/bad.h:4 assembly/bad_moved.h:1 assembly/bad_moved.h:2 assembly/bad_graph.h:2 assembly/one.cpp assembly/two.cpp)
  if(NOT output MATCHES "${bad}")
    message(FATAL_ERROR "layers.cmake did not name ${bad}; it said:\n${output}")
  endif()
endforeach()
if(output MATCHES "good")
  message(FATAL_ERROR "layers.cmake complained about a good file; it said:\n${output}")
endif()
