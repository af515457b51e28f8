/**
 * Names that a job's `env` may not have, because they change how a program is loaded, found or installed. Options of
 * the job's own program are passed as parameters.
 */
const refused: readonly RegExp[] = [
  /^(NODE|NPM|BUN|DENO)_/i,
  /^(LD|DYLD)_/i,
  /^(GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES)$/i,
  // Allowed Python variables only change the behaviour of the program itself.
  /^PYTHON(?!(HASHSEED|FAULTHANDLER|UNBUFFERED|IOENCODING|UTF8|DEVMODE|TRACEMALLOC|MALLOC|ASYNCIODEBUG|INTMAXSTRDIGITS)$)/i,
  /^(PIP|UV|CONDA|MAMBA|POETRY|PDM|PIPX)_/i,
  /^VIRTUAL_ENV/i,
  /^(PATH|CDPATH|ENV|BASH_ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND)$/i,
  /^BASH_FUNC/i,
  /^(GIT|SSH)_/i,
  /^(PERL5?(LIB|OPT|DB)|RUBY(LIB|OPT)|GEM_(HOME|PATH)|_?JAVA_(TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH)$/i,
  /^OPENSSL_(CONF|MODULES|ENGINES)/i,
  // Set by Forge itself.
  /^(SERVICE|FORGE)_/i,
  /^CUDA_(VISIBLE_DEVICES|DEVICE_ORDER)$/i,
]

const shape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** Whether a job may set this environment variable. */
export const isJobVariable = (name: string): boolean =>
  shape.test(name) && !refused.some(pattern => pattern.test(name))

/** The variables that a job may set; the others are dropped. */
export const jobVariables = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isJobVariable(name)))

/** Linux starts no program with a longer variable: name, `=`, value and a null byte together (MAX_ARG_STRLEN). */
export const maxVariableBytes = 128 * 1024

/** Whether a program can be started with this variable. */
export const fitsVariable = (name: string, value: string): boolean =>
  Buffer.byteLength(`${name}=${value}`) < maxVariableBytes
