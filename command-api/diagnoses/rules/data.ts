import type { Case, Rule } from './finding.ts'
import { action, beginAnew } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'
import { baseName, type CaseLine, ownFunction, rootTraceback, type Traceback } from './traceback.ts'

const bad = {
  category: 'data_error',
  blame: 'user',
  cause:
    'The program could not use a record of its data: it is damaged, empty, or not in the form that the program expects.',
  suggest: () => [
    action(
      'Check the record that the error names; validate the data before training, or skip bad records',
    ),
  ],
} as const

const checkpoint = {
  category: 'checkpoint_error',
  blame: 'user',
  suggest: (given: Case) => [action('Continue from an earlier checkpoint'), ...beginAnew(given)],
} as const
const unfit = 'The checkpoint belongs to a model whose shape differs from the model that was built.'
const damaged =
  'The checkpoint is damaged or incomplete, e.g. because the process that wrote it was killed.'

const signatures: readonly Signature[] = [
  {
    ...checkpoint,
    pattern: /Error\(s\) in loading state_dict|size mismatch for \S{1,200}: copying a param/,
    subcategory: 'mismatch',
    confidence: 0.95,
    title: 'The checkpoint does not fit the model',
    cause: unfit,
  },
  {
    ...checkpoint,
    pattern:
      /PytorchStreamReader failed|invalid header or archive is corrupted|UnpicklingError|SafetensorError|Error while deserializing header|unexpected EOF, expected \d{1,20} more bytes/,
    subcategory: 'damaged',
    confidence: 0.94,
    title: 'The checkpoint is damaged',
    cause: damaged,
  },
  {
    ...checkpoint,
    pattern:
      /(?:FileNotFoundError|No such file or directory|not found|does not exist|no file named|couldn't find).{0,200}(?:checkpoint|ckpt|\.pt\b|\.pth\b|\.safetensors|pytorch_model|optimizer\.bin)|(?:checkpoint|ckpt)\S{0,120}.{0,40}(?:not found|does not exist|is not a valid)|Can't find a valid checkpoint/i,
    subcategory: 'missing',
    confidence: 0.92,
    title: 'The checkpoint does not exist',
    cause: 'The program looked for a checkpoint where there is none.',
  },
  {
    ...bad,
    pattern: /JSONDecodeError|json\.decoder\.|Expecting (?:value|property name|',' delimiter)/,
    subcategory: 'json',
    confidence: 0.86,
    title: 'A record is not valid JSON',
  },
  {
    ...bad,
    pattern: /UnicodeDecodeError|codec can't decode byte/,
    subcategory: 'encoding',
    confidence: 0.88,
    title: 'A file is not text in the expected encoding',
  },
  {
    ...bad,
    pattern:
      /could not convert string to float|invalid literal for int\(\) with base|Error tokenizing data|ParserError|_csv\.Error|Expected \d{1,9} fields in line/,
    subcategory: 'table',
    confidence: 0.84,
    title: 'A field of the data has an unexpected value',
  },
  {
    ...bad,
    pattern:
      /ArrowInvalid|ArrowTypeError|Parquet magic bytes not found|DatasetGenerationError|DatasetGenerationCastError|NonMatchingSplitsSizesError|ExpectedMoreSplits|CastError/,
    subcategory: 'dataset',
    confidence: 0.9,
    title: 'The dataset could not be read',
  },
  {
    ...bad,
    pattern:
      /UnidentifiedImageError|image file is truncated|cannot identify image file|BadZipFile|Not a gzipped file|BadGzipFile|ReadError: (?:not a gzip|file could not be opened)|CRC check failed|zlib\.error|Compressed file ended before/,
    subcategory: 'damaged',
    confidence: 0.9,
    title: 'A data file is damaged',
  },
  {
    ...bad,
    pattern:
      /Target \d{1,9} is out of bounds|index out of range in self|num_samples should be a positive integer value|stack expects each tensor to be equal size|Token indices sequence length is longer/,
    subcategory: 'sample',
    confidence: 0.8,
    title: 'A sample does not fit the model or the batch',
  },
]

/** A quoted path, with a folder or a suffix; a bare word is a program, and `.py` and `.so` are parts of one. */
const missingPath =
  /FileNotFoundError: .{0,120}?(?:No such file or directory: |Couldn't find any data file at |unable to open file: name = )(?:b?(['"])(?=[^'"]{0,400}[/\\.])(?![^'"]{0,400}\.(?:py|pyc|pyd|so)\1)([^'"]{1,400})\1|(\/\S{1,400}))/

const missingFile: Signature = {
  ...bad,
  pattern: missingPath,
  subcategory: 'missing',
  confidence: 0.72,
  title: ([, , quoted, bare]) => `The file ${quoted ?? bare} does not exist`,
  cause: 'The program opened a file that does not exist where it runs.',
  suggest: () => [
    action(
      'Check the path; data outside the package must be in a folder that runs may read, on the machine that runs the job',
    ),
  ],
}

/** What Python raises if a program that it should start is missing, also one with a path. */
const startsProgram = (given: Case) =>
  rootTraceback(given.tracebacks)?.frames.at(-1)?.name === '_execute_child'

const ofCheckpoints = /ckpt|checkpoint|(?:load|save|restore|resume)_(?:state|model|weights)/i
const ofData =
  /data|loader|collate|preprocess|tokeniz|parse|read_(?:csv|json|records|rows)|load_(?:rows|records|samples|examples)|getitem/i
const badValues =
  /^(?:\w+\.)*(?:KeyError|ValueError|IndexError|TypeError|AssertionError|error|ParseError|ValidationError)$/

/** A common exception points to the data if the code that reads them raised it, and to a checkpoint if the code that loads one did. */
function byPlace(given: Case): Signature[] {
  const root = rootTraceback(given.tracebacks)
  if (root === null) return []
  const place = tracebackPlace(root)
  const only = (line: CaseLine) => new RegExp(`^${escaped(line.text.slice(0, 200))}`)
  const raised = { pattern: only(root.last), title: `${root.type} in ${place}` }
  const isOfCheckpoint = ofCheckpoints.test(place) || ofCheckpoints.test(root.message)
  if (isOfCheckpoint)
    return [{ ...checkpoint, ...raised, subcategory: 'code', confidence: 0.78, cause: damaged }]
  const isOfData = ofData.test(place) && (badValues.test(root.type) || ofData.test(root.message))
  return isOfData ? [{ ...bad, ...raised, subcategory: 'reader', confidence: 0.75 }] : []
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function tracebackPlace(traceback: Traceback): string {
  const frame = ownFunction(traceback)
  return frame === null ? '' : `${baseName(frame.file)} ${frame.name}`
}

/** Data and checkpoints that cannot be read. */
export const dataRule: Rule = given =>
  findingsOf(given, [
    ...signatures,
    ...(startsProgram(given) ? [] : [missingFile]),
    ...byPlace(given),
  ])
