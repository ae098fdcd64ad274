#include <mortise/diagnosis/report_stages.h>  // Moved: this old path is removed in release 0.2
