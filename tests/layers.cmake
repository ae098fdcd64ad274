# The layers: a library folder includes itself and core, and what stands before it in the order assembly, engine, diagnosis,
# solve, integrators, analysis; catalogue, which compiles the parts of the library, all that these are; files, which reads and writes
# models, all that these are made of and run by.
# Boost.Graph, slow to compile, stays inside one .cpp of assembly.
# Usage: cmake -DROOT=<folder that holds core, bodies, ...> -P layers.cmake
cmake_minimum_required(VERSION 3.25)

set(folders core bodies joints forces sensors assembly engine diagnosis solve catalogue integrators analysis files)
set(engine_also assembly)
set(diagnosis_also assembly engine)
set(solve_also assembly engine diagnosis)
set(integrators_also assembly engine diagnosis solve)
set(analysis_also assembly engine diagnosis solve integrators)
set(catalogue_also bodies joints forces sensors assembly)
set(files_also bodies joints forces sensors assembly diagnosis solve integrators)
# An old path of a moved header: this one line.
set(moved "#include <mortise/[a-z_/]+\\.h>  // Moved: this old path is removed in release [0-9.]+\n")
set(errors 0)
set(read 0)
set(graph_users "")

function(complain text)
  message(NOTICE "${text}")
  math(EXPR errors "${errors} + 1")
  set(errors ${errors} PARENT_SCOPE)
endfunction()

foreach(folder ${folders})
  set(names ${folder} core ${${folder}_also})
  list(REMOVE_DUPLICATES names)
  list(JOIN names "|" allowed)
  list(JOIN names " and " names)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp)
  foreach(file ${files})
    math(EXPR read "${read} + 1")
    file(READ ${ROOT}/${file} text)
    if(text MATCHES "^${moved}$")
      continue()
    endif()
    string(REGEX REPLACE "[][;\\]" "?" text "${text}")  # they mean something in a CMake list
    string(REPLACE "\n" ";" lines "${text}")
    set(number 0)
    foreach(line IN LISTS lines)
      math(EXPR number "${number} + 1")
      if(NOT line MATCHES "^[ \t]*#[ \t]*include[ \t]*[<\"][ \t]*([^>\"]+)[>\"]")
        continue()
      endif()
      set(path ${CMAKE_MATCH_1})

      # Ours are <mortise/folder/...> and any path through one of our folders, as "../folder/...".
      string(REGEX REPLACE "(^|/)(${allowed})/" "\\1" rest "${path}")
      if(path MATCHES "^mortise/" AND NOT path MATCHES "^mortise/(version\\.h$|(${allowed})/)"
         OR rest MATCHES "(^|/)(core|bodies|joints|forces|sensors|assembly|engine|diagnosis|solve|catalogue|integrators|analysis|files|tools|examples|tests)/")
        complain("${file}:${number}: includes ${path}; ${folder} may include only ${names}")
      endif()

      if(path MATCHES "^boost/graph")
        if(file MATCHES "^assembly/.*\\.cpp$")
          list(APPEND graph_users ${file})
        else()
          complain("${file}:${number}: includes ${path}; Boost.Graph belongs in one .cpp of assembly")
        endif()
      endif()
    endforeach()
  endforeach()
endforeach()

list(REMOVE_DUPLICATES graph_users)
list(LENGTH graph_users count)
if(count GREATER 1)
  list(JOIN graph_users " and " users)
  complain("Boost.Graph belongs in one .cpp of assembly, not in ${count}: ${users}")
endif()
if(read EQUAL 0)
  message(FATAL_ERROR "no library file below ROOT = ${ROOT}")
elseif(errors)
  message(FATAL_ERROR "${errors} forbidden include(s)")
endif()
