import { excerptOf, normalized } from './clean.ts'
import { type Case, exitEvidence, type Finding, nowhere, type Rule } from './finding.ts'
import { action } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'

const image = {
  category: 'image_pull',
  blame: 'external',
  cause: 'The image of the job could not be fetched from its registry.',
} as const
const environment = { category: 'env_build', blame: 'user' } as const
const config = {
  category: 'config_error',
  blame: 'user',
  cause: 'The program rejected its own settings before it started to work.',
  suggest: () => [action('Correct the parameter that the error names (spec.params)')],
} as const

const signatures: readonly Signature[] = [
  {
    ...image,
    pattern:
      /ErrImagePull|ImagePullBackOff|manifest (?:for \S{1,300} not found|unknown)|pull access denied|toomanyrequests: You have reached|failed to (?:pull|resolve) (?:image|reference)|Error response from daemon: .{0,200}(?:pull|manifest)/i,
    subcategory: null,
    confidence: 0.95,
    title: 'The image could not be pulled',
    suggest: () => [
      action('Check the name and the digest of the image, and the credentials of its registry'),
    ],
  },
  {
    ...environment,
    pattern: /ModuleNotFoundError: No module named ['"]([\w.]{1,200})['"]/,
    subcategory: 'missing_module',
    confidence: 0.93,
    title: ([, name]) => `The module ${name} is not installed`,
    cause: 'The program imports a module that is missing from its environment.',
    suggest: (_, [, name]) => [
      action(`Add ${name} to the requirements of the recipe or of the package`),
    ],
  },
  {
    ...environment,
    pattern: /ImportError: (?!.{0,20}attempted relative)(.{1,200})/,
    subcategory: 'import',
    confidence: 0.9,
    title: ([, what]) => `An import failed: ${what}`,
    cause:
      'A module is installed in a version without the imported name, or a system library is missing.',
    suggest: () => [action('Pin compatible versions of the packages')],
  },
  {
    ...environment,
    pattern:
      /cannot open shared object file|GLIBC(?:XX)?_[\d.]{1,12}' not found|undefined symbol: \w{1,200}|CUDA driver version is insufficient|no kernel image is available for execution/,
    subcategory: 'native_library',
    confidence: 0.92,
    title: 'A system library is missing or incompatible',
    cause:
      'A package was built for different libraries, or for a different GPU or driver, from those of this machine.',
    suggest: () => [
      action('Install a build of the package that matches the CUDA version and the system'),
    ],
  },
  {
    ...environment,
    pattern:
      /No matching distribution found for|ResolutionImpossible|subprocess-exited-with-error|Failed building wheel for|Could not find a version that satisfies|No solution found when resolving|conda\.exceptions\.|LibMambaUnsatisfiableError|ERROR: Hash mismatch|THESE PACKAGES DO NOT MATCH THE HASHES/,
    subcategory: 'install',
    confidence: 0.95,
    title: 'The environment could not be installed',
    cause:
      'A package that the environment needs cannot be found, conflicts with others, or cannot be built.',
    suggest: () => [action('Correct the requirements that the error names')],
  },
  {
    ...config,
    pattern:
      /error: (?:unrecognized arguments|the following arguments are required|argument [^:]{1,200}: (?:invalid|expected))/,
    subcategory: 'arguments',
    confidence: 0.93,
    title: ([text]) => `Wrong arguments: ${text}`,
  },
  {
    ...config,
    pattern:
      /omegaconf\.errors\.|hydra\.errors\.|pydantic(?:_core)?\.\S{0,60}ValidationError|validation errors? for \w{1,100}|jsonschema\.\S{0,40}ValidationError|yaml\.(?:scanner|parser)\.\w{1,40}Error|tomllib\.TOMLDecodeError|configparser\.\w{1,40}Error/,
    subcategory: 'schema',
    confidence: 0.91,
    title: 'The configuration is not valid',
  },
  {
    ...config,
    pattern:
      /(?:ValueError|AssertionError|KeyError|TypeError|RuntimeError)\b.{0,200}(?:must be (?:divisible|positive|greater|less|one of|set|a multiple)|is not divisible by|unknown (?:option|argument|config|parameter)|unexpected keyword argument|Unsupported (?:value|option|config)|missing (?:required )?(?:config|parameter|option|setting|key))/i,
    subcategory: 'value',
    confidence: 0.78,
    title: 'A setting has a value that the program does not accept',
  },
]

const ofEnvironments = /environment|requirements|pip|venv|uv |conda|wheel|package|python/i
const ofImages = /image|registry|manifest|container/i

/** The program never ran, and the engine reported why. */
function neverRan(given: Case): Finding[] {
  const { launch_error, reason, message } = given.end
  const why = launch_error ?? (reason === 'launch_error' ? message : null)
  if (why === null) return []
  const category = ofImages.test(why)
    ? 'image_pull'
    : ofEnvironments.test(why)
      ? 'env_build'
      : 'config_error'
  return [
    {
      category,
      subcategory: 'launch',
      blame: category === 'image_pull' ? 'external' : 'unknown',
      confidence: 0.9,
      title: `The program could not be started: ${excerptOf(why, 160)}`,
      root_cause: 'The engine could not start the program of the job.',
      origin: { ...nowhere, ts: given.until_ms },
      evidence: [exitEvidence(given, excerptOf(why), 0.9)],
      suggestions: [action('Correct what the error names, then submit the job again')],
      sameness: normalized(why),
      isEcho: false,
    },
  ]
}

/** Failures before a program starts to work: images, environments, settings. */
export const startupRule: Rule = given => [...findingsOf(given, signatures), ...neverRan(given)]
