# mortise_show: tables, plots and the page of a run.  Made once, for the command and for the tests.
if(TARGET mortise_show)
  return()
endif()
set(show ${CMAKE_CURRENT_LIST_DIR})
set(page ${CMAKE_CURRENT_BINARY_DIR}/page.cpp)
add_custom_command(OUTPUT ${page} DEPENDS ${show}/page/dist/page.html ${show}/page/embed.cmake
                   COMMAND ${CMAKE_COMMAND} -DPAGE=${show}/page/dist/page.html -DOUT=${page} -P ${show}/page/embed.cmake)
add_library(mortise_show STATIC ${show}/graph_picture.cpp ${show}/markup.cpp ${show}/table.cpp ${show}/plot.cpp ${show}/programs.cpp ${show}/scene.cpp
            ${show}/view.cpp ${page})
set_source_files_properties(${page} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_target_properties(mortise_show PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
target_include_directories(mortise_show PUBLIC ${show})
target_link_libraries(mortise_show PUBLIC mortise::mortise)
