int scripted_runtime(void);
int scripted_runtime(void) { return 13; }
