// Stands in for the toolkit's header, all of which is included before every source.
#pragma once
