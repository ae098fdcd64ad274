# docs/CATALOGUE.md is what the program prints.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} fails")
endif()
file(READ ${TABLE} table)
if(NOT printed STREQUAL table)
  message(FATAL_ERROR "docs/CATALOGUE.md is not what the parts tell; make it anew: mortise_catalogue > docs/CATALOGUE.md")
endif()
