import { excerptOf } from './clean.ts'
import { type Case, exitEvidence, type Finding, nowhere, type Rule, stepAt } from './finding.ts'
import { action, keepFewerCheckpoints, moreOf } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'

const full = {
  category: 'disk_full',
  blame: 'user',
  cause:
    'A file could not be written, because its file system or quota is full or the file is too large.',
  suggest: (given: Case) => [...keepFewerCheckpoints(given), ...moreOf(given, 'disk_gb')],
} as const

const hub = { category: 'hub_access', blame: 'external' } as const
const fromHub = /huggingface|hf\.co|hub/i.source

const store = { category: 'storage_access', blame: 'external' } as const

const signatures: readonly Signature[] = [
  {
    ...full,
    pattern: /No space left on device|\[Errno 28\]|\bENOSPC\b/,
    subcategory: 'space',
    confidence: 0.96,
    title: 'No space left on the disk',
  },
  {
    ...full,
    pattern: /Disk quota exceeded|\[Errno 122\]|\bEDQUOT\b/,
    subcategory: 'quota',
    confidence: 0.96,
    title: 'The disk quota is used up',
  },
  {
    ...full,
    pattern: /\[Errno 27\]|File too large|\bEFBIG\b|File size limit exceeded/,
    subcategory: 'file_size',
    confidence: 0.93,
    title: 'A file is larger than allowed',
  },
  {
    ...full,
    pattern:
      /enforce fail at inline_container\.cc.{0,200}unexpected pos|PytorchStreamWriter failed writing file/,
    subcategory: 'space',
    confidence: 0.85,
    title: 'A checkpoint could not be written in full',
  },
  {
    ...hub,
    blame: 'user',
    pattern: new RegExp(
      `GatedRepoError|Cannot access gated repo|(?:401|403) Client Error.{0,300}(?:${fromHub})|Invalid (?:user token|username or password)\\.|You must be authenticated to access`,
      'i',
    ),
    subcategory: 'auth',
    confidence: 0.95,
    title: 'The model hub refused access',
    cause: 'The model hub requires a token, or a token with access to this repository.',
    suggest: () => [
      action(
        'Request access to the repository on the hub, and give the job a token: HF_TOKEN in spec.env',
      ),
    ],
  },
  {
    ...hub,
    pattern: new RegExp(
      `429 Client Error.{0,300}(?:${fromHub})|Too Many Requests.{0,200}(?:${fromHub})`,
      'i',
    ),
    subcategory: 'rate_limit',
    confidence: 0.94,
    title: 'The model hub limited the number of requests',
    cause: 'The model hub refused requests because too many came from here.',
    suggest: () => [action('Wait, use a token, or load from a local copy (HF_HUB_OFFLINE=1)')],
  },
  {
    ...hub,
    blame: 'user',
    pattern:
      /RepositoryNotFoundError|RevisionNotFoundError|EntryNotFoundError(?!.{0,20}Local)|is not a local folder and is not a valid model identifier/,
    subcategory: 'not_found',
    confidence: 0.93,
    title: 'The model hub does not have the requested file',
    cause:
      'The name or the revision is wrong, or the repository is private and the token has no access.',
    suggest: () => [
      action('Check the name and the revision, and whether the repository is private'),
    ],
  },
  {
    ...hub,
    pattern: new RegExp(
      `LocalEntryNotFoundError|OfflineModeIsEnabled|We couldn't connect to '?https?://hugging|(?:ConnectionError|ReadTimeout|MaxRetryError|NameResolutionError|5\\d\\d Server Error).{0,400}(?:${fromHub})`,
      'i',
    ),
    subcategory: 'unreachable',
    confidence: 0.92,
    title: 'The model hub could not be reached',
    cause: 'The machine has no connection to the model hub, or the hub had a failure.',
    suggest: () => [action('Try again later, or load from a local copy')],
  },
  {
    ...store,
    blame: 'user',
    pattern:
      /\b(?:AccessDenied|SignatureDoesNotMatch|InvalidAccessKeyId|ExpiredToken|NoCredentialsError|Unable to locate credentials)\b/,
    subcategory: 'auth',
    confidence: 0.92,
    title: 'The object store refused access',
    cause:
      'The credentials for the object store are missing, wrong or expired, or have no access to this bucket.',
    suggest: () => [action('Check the credentials of the job and the policy of the bucket')],
  },
  {
    ...store,
    pattern:
      /\b(?:NoSuchBucket|NoSuchKey|SlowDown|EndpointConnectionError|RequestTimeTooSkewed)\b|An error occurred \(\w{1,40}\) when calling the \w{1,40} operation/,
    subcategory: 'object_store',
    confidence: 0.88,
    title: 'The object store failed or does not have the object',
    cause: 'A request to the object store failed.',
    suggest: () => [action('Check the address of the bucket and the name of the object')],
  },
  {
    ...store,
    blame: 'user',
    pattern:
      /PermissionError: \[Errno 1?3\]|\[Errno 13\] Permission denied|Read-only file system|\[Errno 30\]/,
    subcategory: 'permission',
    confidence: 0.88,
    title: 'Access to a file was denied',
    cause:
      'The program uses a path that the job may not access: a job may only write to its own folder.',
    suggest: () => [
      action('Write only below the working directory of the run, and read only mounted paths'),
    ],
  },
  {
    ...store,
    blame: 'platform',
    pattern:
      /Stale (?:NFS )?file handle|\[Errno 116\]|Transport endpoint is not connected|\[Errno 5\] Input\/output error|Remote I\/O error/i,
    subcategory: 'file_system',
    confidence: 0.93,
    title: 'A shared file system failed',
    cause: 'A mounted file system stopped responding or was remounted.',
    suggest: () => [action('Inform the administrator of the file system, then retry the job')],
  },
]

/** A file exceeded the size limit of its process, and the program did not handle that. */
function fileTooLarge(given: Case): Finding[] {
  if (given.end.signal !== 'SIGXFSZ') return []
  return [
    {
      category: 'disk_full',
      subcategory: 'file_size',
      blame: 'user',
      confidence: 0.95,
      title: 'A file is larger than allowed',
      root_cause: full.cause,
      origin: { ...nowhere, ts: given.until_ms, step: stepAt(given, given.until_ms) },
      evidence: [exitEvidence(given, 'ended by SIGXFSZ', 0.9)],
      suggestions: full.suggest(given),
      sameness: 'sigxfsz',
      isEcho: false,
    },
  ]
}

/** The supervisor ended it for the disk space that it occupied. */
function diskLimit(given: Case): Finding[] {
  const { end } = given
  if (end.reason !== 'disk_limit') return []
  return [
    {
      category: 'disk_full',
      subcategory: 'limit',
      blame: 'user',
      confidence: 0.99,
      title: 'Ended for the disk space it used',
      root_cause:
        'The run occupied more disk space than it may, or filled the disk of its machine.',
      origin: { ...nowhere, ts: given.until_ms, step: stepAt(given, given.until_ms) },
      evidence: [exitEvidence(given, excerptOf(end.message ?? 'ended for its disk space'), 0.9)],
      suggestions: full.suggest(given),
      sameness: 'disk_limit',
      isEcho: false,
    },
  ]
}

/** Failures of disks, model hubs and object stores. */
export const storageRule: Rule = given => [
  ...findingsOf(given, signatures),
  ...fileTooLarge(given),
  ...diskLimit(given),
]
