# The shared library shows its public classes and none of the internal headers.
# -DNM=nm -DLIBRARY=file -DROOT=folder -DHEADERS=engine/engine|engine/fronts|...
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -DC --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)

# Members of mortise::<name>, its vtable and its typeinfo.
function(find_shown name)
  set(shown FALSE PARENT_SCOPE)
  if(symbols MATCHES " mortise::(detail::)?${name}(::|<|\n)")
    set(shown TRUE PARENT_SCOPE)
  endif()
endfunction()

foreach(name System Solver Trajectory)
  find_shown(${name})
  if(NOT shown)
    message(FATAL_ERROR "${LIBRARY} does not show the public class ${name}")
  endif()
endforeach()

set(names report engine)  # namespaces
string(REPLACE "|" ";" headers "${HEADERS}")
foreach(header ${headers})
  file(STRINGS ${ROOT}/${header}.h lines REGEX "^(class|struct) ")
  foreach(line ${lines})
    string(REPLACE "__attribute__((visibility(\"hidden\"))) " "" line "${line}")
    string(REGEX REPLACE "^(class|struct) ([A-Za-z0-9:]+).*" "\\2" name "${line}")
    if(NOT name MATCHES "::")  # a class inside a public one is a field of public templates
      list(APPEND names ${name})
    endif()
  endforeach()
endforeach()
list(LENGTH names count)
if(count LESS 30 OR NOT "Engine" IN_LIST names)
  message(FATAL_ERROR "the internal classes were not found in the headers: ${names}")
endif()
foreach(name ${names})
  find_shown(${name})
  if(shown)
    message(FATAL_ERROR "${LIBRARY} shows the internal ${name}: put its header between #pragma GCC visibility push(hidden) and pop")
  endif()
endforeach()
