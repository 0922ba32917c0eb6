/* A libcupti that tests drive: it has one place for a subscriber, and "launches" kernels by calling back. */
#pragma once

/* The functions of CUPTI itself have CUPTI's names; these two are the script's. */
void scripted_launch(const char* kernel); /* by the runtime, which enters the driver; NULL launches a graph */
void scripted_enter(const char* kernel);  /* the same in two halves */
void scripted_leave(const char* kernel);
int scripted_subscriptions(void);
