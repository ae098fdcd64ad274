#include <mortise/diagnosis/report_poses.h>  // Moved: this old path is removed in release 0.2
