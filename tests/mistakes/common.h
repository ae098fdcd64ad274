#include <mortise/assembly/assembly.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/spring.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>

using namespace mortise;
