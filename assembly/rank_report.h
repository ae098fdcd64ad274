#include <mortise/diagnosis/rank_report.h>  // Moved: this old path is removed in release 0.2
