/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/names.h"

#include <string.h>

/*
 * Functions and objects that the headers of C11, POSIX and the GNU C library
 * declare, by first letter. A kernel called printf would not compile, and one
 * called read would replace the library's function.
 */
static const char *const words[] = {
	"_exit",
	"a64l abort abs accept accept4 access acct acos acosf acosh acoshf "
	"acoshl acosl addseverity adjtime alarm aligned_alloc alloca "
	"alphasort arc4random arc4random_buf arc4random_uniform asctime "
	"asctime_r asin asinf asinh asinhf asinhl asinl asprintf assert "
	"at_quick_exit atan atan2 atan2f atan2l atanf atanh atanhf atanhl "
	"atanl atexit atof atoi atol atoll",
	"backtrace backtrace_symbols backtrace_symbols_fd basename bcmp "
	"bcopy bind bindresvport bindresvport6 brk bsearch btowc bzero",
	"c16rtomb c32rtomb c8rtomb cabs cabsf cabsl cacos cacosf cacosh "
	"cacoshf cacoshl cacosl call_once calloc canonicalize "
	"canonicalize_file_name canonicalizef canonicalizel carg cargf "
	"cargl casin casinf casinh casinhf casinhl casinl catan catanf "
	"catanh catanhf catanhl catanl catclose catgets catopen cbrt cbrtf "
	"cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf ceill cexp "
	"cexpf cexpl cfgetispeed cfgetospeed cfmakeraw cfsetispeed "
	"cfsetospeed cfsetspeed chdir chmod chown chroot cimag cimagf "
	"cimagl clearenv clearerr clearerr_unlocked clock clock_adjtime "
	"clock_getcpuclockid clock_getres clock_gettime clock_nanosleep "
	"clock_settime clog clog10 clog10f clog10l clogf clogl clone close "
	"close_range closedir closefrom closelog complex confstr conj conjf "
	"conjl connect copy_file_range copysign copysignf copysignl cos "
	"cosf cosh coshf coshl cosl cpow cpowf cpowl cproj cprojf cprojl "
	"creal crealf creall creat crypt csin csinf csinh csinhf csinhl "
	"csinl csqrt csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl "
	"ctermid ctime ctime_r",
	"daddl daemon daylight ddivl dfmal difftime dirfd dirname div "
	"dladdr dladdr1 dlclose dlerror dlinfo dlmopen dlopen dlsym dlvsym "
	"dmull dprintf drand48 drand48_r drem dremf dreml dsqrtl dsubl dup "
	"dup2 dup3 duplocale dysize",
	"eaccess ecvt ecvt_r endgrent endhostent endnetent endnetgrent "
	"endprotoent endpwent endrpcent endservent endusershell endutxent "
	"environ erand48 erand48_r erf erfc erfcf erfcl erff erfl err error "
	"error_at_line errx euidaccess eventfd eventfd_read eventfd_write "
	"execl execle execlp execv execve execveat execvp execvpe exit exp "
	"exp10 exp10f exp10l exp2 exp2f exp2l expf expl explicit_bzero "
	"expm1 expm1f expm1l",
	"fabs fabsf fabsl faccessat fadd faddl fallocate fchdir fchmod "
	"fchmodat fchown fchownat fclose fcloseall fcntl fcvt fcvt_r "
	"fdatasync fdim fdimf fdiml fdiv fdivl fdopen fdopendir "
	"feclearexcept fedisableexcept feenableexcept fegetenv fegetexcept "
	"fegetexceptflag fegetmode fegetround feholdexcept feof "
	"feof_unlocked feraiseexcept ferror ferror_unlocked fesetenv "
	"fesetexcept fesetexceptflag fesetmode fesetround fetestexcept "
	"fetestexceptflag feupdateenv fexecve fflush fflush_unlocked ffma "
	"ffmal ffs ffsl ffsll fgetc fgetc_unlocked fgetgrent fgetgrent_r "
	"fgetpos fgetpwent fgetpwent_r fgets fgets_unlocked fgetwc "
	"fgetwc_unlocked fgetws fgetws_unlocked fileno fileno_unlocked "
	"finite finitef finitel flock flockfile floor floorf floorl fma "
	"fmaf fmal fmax fmaxf fmaximum fmaximum_mag fmaximum_mag_num "
	"fmaximum_mag_numf fmaximum_mag_numl fmaximum_magf fmaximum_magl "
	"fmaximum_num fmaximum_numf fmaximum_numl fmaximumf fmaximuml fmaxl "
	"fmaxmag fmaxmagf fmaxmagl fmemopen fmin fminf fminimum "
	"fminimum_mag fminimum_mag_num fminimum_mag_numf fminimum_mag_numl "
	"fminimum_magf fminimum_magl fminimum_num fminimum_numf "
	"fminimum_numl fminimumf fminimuml fminl fminmag fminmagf fminmagl "
	"fmod fmodf fmodl fmtmsg fmul fmull fnmatch fopen fopencookie fork "
	"forkpty fpathconf fpclassify fprintf fputc fputc_unlocked fputs "
	"fputs_unlocked fputwc fputwc_unlocked fputws fputws_unlocked fread "
	"fread_unlocked free freeaddrinfo freelocale freopen frexp frexpf "
	"frexpl fromfp fromfpf fromfpl fromfpx fromfpxf fromfpxl fscanf "
	"fsconfig fseek fseeko fsetpos fsmount fsopen fspick fsqrt fsqrtl "
	"fstat fstatat fstatvfs fsub fsubl fsync ftell ftello ftok "
	"ftruncate ftrylockfile ftw funlockfile futimens futimes futimesat "
	"fwide fwprintf fwrite fwrite_unlocked fwscanf",
	"gai_cancel gai_error gai_strerror gai_suspend gamma gammaf gammal "
	"gcvt get_avphys_pages get_current_dir_name get_nprocs "
	"get_nprocs_conf get_phys_pages getaddrinfo getaddrinfo_a getc "
	"getc_unlocked getchar getchar_unlocked getcpu getcwd getdate "
	"getdate_r getdelim getdirentries getdomainname getdtablesize "
	"getegid getentropy getenv geteuid getgid getgrent getgrent_r "
	"getgrgid getgrgid_r getgrnam getgrnam_r getgrouplist getgroups "
	"gethostbyaddr gethostbyaddr_r gethostbyname gethostbyname2 "
	"gethostbyname2_r gethostbyname_r gethostent gethostent_r gethostid "
	"gethostname getipv4sourcefilter getitimer getline getloadavg "
	"getlogin getlogin_r getnameinfo getnetbyaddr getnetbyaddr_r "
	"getnetbyname getnetbyname_r getnetent getnetent_r getnetgrent "
	"getnetgrent_r getopt getpagesize getpass getpayload getpayloadf "
	"getpayloadl getpeername getpgid getpgrp getpid getppid getpriority "
	"getprotobyname getprotobyname_r getprotobynumber "
	"getprotobynumber_r getprotoent getprotoent_r getpt getpw getpwent "
	"getpwent_r getpwnam getpwnam_r getpwuid getpwuid_r getrandom "
	"getresgid getresuid getrlimit getrpcbyname getrpcbyname_r "
	"getrpcbynumber getrpcbynumber_r getrpcent getrpcent_r getrusage "
	"getservbyname getservbyname_r getservbyport getservbyport_r "
	"getservent getservent_r getsid getsockname getsockopt "
	"getsourcefilter getsubopt gettid gettimeofday getuid getumask "
	"getusershell getutmp getutmpx getutxent getutxid getutxline getw "
	"getwc getwc_unlocked getwchar getwchar_unlocked getwd glob "
	"glob_pattern_p globfree gmtime gmtime_r grantpt group_member "
	"gsignal",
	"hcreate hcreate_r hdestroy hdestroy_r herror hsearch hsearch_r "
	"hstrerror htonl htons hypot hypotf hypotl",
	"iconv iconv_close iconv_open if_freenameindex if_indextoname "
	"if_nameindex if_nametoindex ilogb ilogbf ilogbl imaginary imaxabs "
	"imaxdiv index inet6_opt_append inet6_opt_find inet6_opt_finish "
	"inet6_opt_get_val inet6_opt_init inet6_opt_next inet6_opt_set_val "
	"inet6_option_alloc inet6_option_append inet6_option_find "
	"inet6_option_init inet6_option_next inet6_option_space "
	"inet6_rth_add inet6_rth_getaddr inet6_rth_init inet6_rth_reverse "
	"inet6_rth_segments inet6_rth_space inet_addr inet_aton inet_lnaof "
	"inet_makeaddr inet_net_ntop inet_net_pton inet_neta inet_netof "
	"inet_network inet_nsap_addr inet_nsap_ntoa inet_ntoa inet_ntop "
	"inet_pton initgroups initstate initstate_r innetgr insque int "
	"ioctl iruserok iruserok_af isalnum isalnum_l isalpha isalpha_l "
	"isascii isatty isblank isblank_l iscntrl iscntrl_l isctype isdigit "
	"isdigit_l isfdtype isfinite isgraph isgraph_l isgreater "
	"isgreaterequal isinf isinff isinfl isless islessequal "
	"islessgreater islower islower_l isnan isnanf isnanl isnormal "
	"isprint isprint_l ispunct ispunct_l isspace isspace_l isunordered "
	"isupper isupper_l iswalnum iswalnum_l iswalpha iswalpha_l iswblank "
	"iswblank_l iswcntrl iswcntrl_l iswctype iswctype_l iswdigit "
	"iswdigit_l iswgraph iswgraph_l iswlower iswlower_l iswprint "
	"iswprint_l iswpunct iswpunct_l iswspace iswspace_l iswupper "
	"iswupper_l iswxdigit iswxdigit_l isxdigit isxdigit_l",
	"j0 j0f j0l j1 j1f j1l jn jnf jnl jrand48 jrand48_r",
	"kill kill_dependency killpg",
	"l64a labs lchmod lchown lcong48 lcong48_r ldexp ldexpf ldexpl ldiv "
	"lfind lgamma lgamma_r lgammaf lgammaf_r lgammal lgammal_r link "
	"linkat lio_listio listen llabs lldiv llogb llogbf llogbl llrint "
	"llrintf llrintl llround llroundf llroundl localeconv localtime "
	"localtime_r lockf log log10 log10f log10l log1p log1pf log1pl log2 "
	"log2f log2l logb logbf logbl logf logl longjmp lrand48 lrand48_r "
	"lrint lrintf lrintl lround lroundf lroundl lsearch lseek lstat "
	"lutimes",
	"madvise mallinfo mallinfo2 malloc malloc_info malloc_stats "
	"malloc_trim malloc_usable_size mallopt math_errhandling mblen "
	"mbrlen mbrtoc16 mbrtoc32 mbrtoc8 mbrtowc mbsinit mbsnrtowcs "
	"mbsrtowcs mbstowcs mbtowc memalign memccpy memchr memcmp memcpy "
	"memfd_create memfrob memmem memmove mempcpy memrchr memset mincore "
	"mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkostemp "
	"mkostemps mkstemp mkstemps mktemp mktime mlock mlock2 mlockall "
	"mmap modf modff modfl mount mount_setattr move_mount mprotect "
	"mrand48 mrand48_r mremap msgctl msgget msgrcv msgsnd msync munlock "
	"munlockall munmap",
	"name_to_handle_at nan nanf nanl nanosleep nearbyint nearbyintf "
	"nearbyintl newlocale nextafter nextafterf nextafterl nextdown "
	"nextdownf nextdownl nexttoward nexttowardf nexttowardl nextup "
	"nextupf nextupl nftw nice nl_langinfo nl_langinfo_l noreturn "
	"nrand48 nrand48_r ntohl ntohs",
	"obstack_printf obstack_vprintf offsetof on_exit open "
	"open_by_handle_at open_memstream open_tree open_wmemstream openat "
	"opendir openlog openpty optarg opterr optind optopt",
	"pathconf pause pclose perror pipe pipe2 pkey_alloc pkey_free "
	"pkey_get pkey_mprotect pkey_set poll popen pow powf powl ppoll "
	"prctl pread preadv preadv2 preadv64v2 printf prlimit "
	"process_madvise process_mrelease process_vm_readv "
	"process_vm_writev profil program_invocation_name "
	"program_invocation_short_name pselect psiginfo psignal ptsname "
	"ptsname_r putc putc_unlocked putchar putchar_unlocked putenv "
	"putgrent putpwent puts pututxline putw putwc putwc_unlocked "
	"putwchar putwchar_unlocked pvalloc pwrite pwritev pwritev2 "
	"pwritev64v2",
	"qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort qsort_r quick_exit",
	"raise rand rand_r random random_r rawmemchr rcmd rcmd_af "
	"re_compile_fastmap re_compile_pattern re_match re_match_2 "
	"re_search re_search_2 re_set_registers re_set_syntax read "
	"readahead readdir readdir64_r readdir_r readlink readlinkat readv "
	"realloc reallocarray realpath recv recvfrom recvmmsg recvmsg "
	"regcomp regerror regexec regfree remainder remainderf remainderl "
	"remap_file_pages remove remque remquo remquof remquol rename "
	"renameat renameat2 revoke rewind rewinddir rexec rexec_af rindex "
	"rint rintf rintl rmdir round roundeven roundevenf roundevenl "
	"roundf roundl rpmatch rresvport rresvport_af ruserok ruserok_af",
	"sbrk scalb scalbf scalbl scalbln scalblnf scalblnl scalbn scalbnf "
	"scalbnl scandir scandirat scanf secure_getenv seed48 seed48_r "
	"seekdir select semctl semget semop semtimedop send sendfile "
	"sendmmsg sendmsg sendto setbuf setbuffer setdomainname setegid "
	"setenv seteuid setgid setgrent setgroups sethostent sethostid "
	"sethostname setipv4sourcefilter setitimer setjmp setlinebuf "
	"setlocale setlogin setlogmask setnetent setnetgrent setns "
	"setpayload setpayloadf setpayloadl setpayloadsig setpayloadsigf "
	"setpayloadsigl setpgid setpgrp setpriority setprotoent setpwent "
	"setregid setresgid setresuid setreuid setrlimit setrpcent "
	"setservent setsid setsockopt setsourcefilter setstate setstate_r "
	"settimeofday setuid setusershell setutxent setvbuf shm_open "
	"shm_unlink shmat shmctl shmdt shmget shutdown sigabbrev_np "
	"sigaction sigaddset sigaltstack sigandset sigblock sigdelset "
	"sigdescr_np sigemptyset sigfillset siggetmask sighold sigignore "
	"siginterrupt sigisemptyset sigismember siglongjmp signal signbit "
	"signgam significand significandf significandl sigorset sigpause "
	"sigpending sigprocmask sigqueue sigrelse sigreturn sigset "
	"sigsetjmp sigsetmask sigstack sigsuspend sigtimedwait sigwait "
	"sigwaitinfo sin sincos sincosf sincosl sinf sinh sinhf sinhl sinl "
	"sleep snprintf sockatmark socket socketpair splice sprintf sqrt "
	"sqrtf sqrtl srand srand48 srand48_r srandom srandom_r sscanf "
	"ssignal stat statvfs statx stderr stdin stdout stpcpy stpncpy "
	"strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp "
	"strcoll strcoll_l strcpy strcspn strdup strdupa strerror "
	"strerror_l strerror_r strerrordesc_np strerrorname_np strfmon "
	"strfmon_l strfromd strfromf strfroml strfry strftime strftime_l "
	"strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup "
	"strnlen strpbrk strptime strptime_l strrchr strsep strsignal "
	"strspn strstr strtod strtod_l strtof strtof128_l strtof_l "
	"strtoimax strtok strtok_r strtol strtol_l strtold strtold_l "
	"strtoll strtoll_l strtoq strtoul strtoul_l strtoull strtoull_l "
	"strtoumax strtouq strverscmp strxfrm strxfrm_l swab swprintf "
	"swscanf symlink symlinkat sync sync_file_range syncfs sys_errlist "
	"syscall sysconf sysinfo syslog system sysv_signal",
	"tan tanf tanh tanhf tanhl tanl tcdrain tcflow tcflush tcgetattr "
	"tcgetpgrp tcgetsid tcsendbreak tcsetattr tcsetpgrp tdelete "
	"tdestroy tee telldir tempnam tfind tgamma tgammaf tgammal tgkill "
	"thread_local time timegm timelocal timer_create timer_delete "
	"timer_getoverrun timer_gettime timer_settime times timespec_get "
	"timespec_getres timezone tmpfile tmpnam tmpnam_r toascii tolower "
	"tolower_l totalorder totalorderf totalorderl totalordermag "
	"totalordermagf totalordermagl toupper toupper_l towctrans "
	"towctrans_l towlower towlower_l towupper towupper_l trunc truncate "
	"truncf truncl tsearch ttyname ttyname_r ttyslot twalk twalk_r "
	"tzname tzset",
	"ualarm ufromfp ufromfpf ufromfpl ufromfpx ufromfpxf ufromfpxl "
	"umask umount umount2 uname ungetc ungetwc unlink unlinkat unlockpt "
	"unsetenv unshare updwtmpx uselocale usleep utimensat utimes "
	"utmpxname",
	"va_arg va_copy va_end va_start valloc vasprintf vdprintf verr "
	"verrx versionsort vfork vfprintf vfscanf vfwprintf vfwscanf "
	"vhangup vmsplice vprintf vscanf vsnprintf vsprintf vsscanf "
	"vswprintf vswscanf vsyslog vwarn vwarnx vwprintf vwscanf",
	"wait wait3 wait4 waitid waitpid warn warnx wcpcpy wcpncpy wcrtomb "
	"wcscasecmp wcscasecmp_l wcscat wcschr wcschrnul wcscmp wcscoll "
	"wcscoll_l wcscpy wcscspn wcsdup wcsftime wcsftime_l wcslen "
	"wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen "
	"wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstod_l "
	"wcstof wcstof128_l wcstof_l wcstoimax wcstok wcstol wcstol_l "
	"wcstold wcstold_l wcstoll wcstoll_l wcstombs wcstoq wcstoul "
	"wcstoul_l wcstoull wcstoull_l wcstoumax wcstouq wcswcs wcswidth "
	"wcsxfrm wcsxfrm_l wctob wctomb wctrans wctrans_l wctype wctype_l "
	"wcwidth wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wordexp "
	"wordfree wprintf write writev wscanf",
	"y0 y0f y0l y1 y1f y1l yn ynf ynl",
};

/* Prefixes of further functions. */
static const char *const families[] = {
	"aio_",     "argz_", "atomic_",  "cnd_",   "envz_",    "epoll_",
	"inotify_", "mq_",   "mtx_",     "posix_", "pthread_", "sched_",
	"sem_",     "thrd_", "timerfd_", "tss_",
};

bool tkb_name_is_in(const char *list, const char *name)
{
	const size_t length = strlen(name);

	while (*list != '\0') {
		const size_t size = strcspn(list, " ");

		if (size == length && memcmp(list, name, length) == 0)
			return true;
		list += size;
		list += *list == ' ' ? 1 : 0;
	}
	return false;
}

bool tkb_name_is_of_library(const char *name)
{
	for (size_t i = 0; i < TKB_COUNT_OF(words); i++) {
		if (words[i][0] == name[0] && tkb_name_is_in(words[i], name))
			return true;
	}
	return tkb_begins_with_any(name, families, TKB_COUNT_OF(families));
}
