#define GROUP(x, y) __attribute__((reqd_work_group_size(x, y, 1)))
#define FUNCTION
#define LOCAL_POINTER(type) __local type*
