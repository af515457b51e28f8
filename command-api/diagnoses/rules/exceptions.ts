import { excerptOf, normalized } from './clean.ts'
import { type Case, type Finding, logEvidence, onRank, originOf, type Rule } from './finding.ts'
import { action } from './patches.ts'
import { findingsOf, ownFrameText, type Signature } from './signatures.ts'
import { baseName, isEcho, ownFrame, rootTraceback, type Traceback } from './traceback.ts'

/** Exceptions without a traceback, and other languages than Python. */
const signatures: readonly Signature[] = [
  {
    category: 'code_exception',
    pattern: /^(?:SyntaxError|IndentationError|TabError): (.{1,300})/,
    subcategory: 'syntax',
    blame: 'user',
    confidence: 0.8,
    title: ([text]) => text,
    cause: 'Python could not read the program.',
    suggest: () => [action('Correct the line that the error names')],
  },
  {
    category: 'code_exception',
    pattern:
      /^(?:terminate called after throwing an instance of|Segmentation fault|Fatal Python error: |thread '[^']{1,80}' panicked at|panic: )/,
    subcategory: 'native',
    blame: 'user',
    confidence: 0.6,
    title: ([text]) => `The program crashed: ${text.trim()}`,
    cause: 'Native code of the program or of one of its libraries crashed.',
    suggest: () => [action('Run it with PYTHONFAULTHANDLER=1 to see where')],
  },
  {
    category: 'code_exception',
    pattern: /^((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception)): (.{0,300})/,
    subcategory: 'exception',
    blame: 'user',
    confidence: 0.45,
    title: ([, type, message]) => `${type}: ${message}`,
    cause: 'The program reported an exception.',
    suggest: () => [action('Correct the program where the error was raised')],
  },
]

function uncaught(given: Case): Finding[] {
  const traceback = rootTraceback(given.tracebacks)
  if (traceback === null) return []
  const { last, type, message, causes } = traceback
  const origin = originOf(given, last)
  const frame = ownFrame(traceback)
  const where = frame === null ? '' : ` in ${baseName(frame.file)}:${frame.line}`
  const text = message === '' ? type : `${type}: ${message}`
  const [first] = causes
  return [
    {
      category: 'code_exception',
      subcategory: type.slice(type.lastIndexOf('.') + 1),
      blame: 'user',
      confidence: isEcho(traceback) ? 0.4 : 0.65,
      title: `${excerptOf(text, 160)}${where}${onRank(origin.rank)}`,
      root_cause:
        frame === null
          ? 'The program raised an unhandled exception.'
          : `${excerptOf(frame.name, 80)} (${excerptOf(baseName(frame.file), 80)}, line ${frame.line}) raised an unhandled exception${first ? `, while it handled ${excerptOf(first.type, 80)}` : ''}.`,
      origin,
      evidence: [
        logEvidence(last, excerptOf(text), 0.6),
        logEvidence(traceback.first, excerptOf(stackText(traceback)), 0.3),
      ],
      suggestions: [action(`Correct the program${where}`)],
      sameness: `${type} ${ownFrameText(traceback)} ${normalized(message)}`,
      isEcho: isEcho(traceback),
    },
  ]
}

const shownFrames = 8

const stackText = ({ frames }: Traceback): string =>
  frames
    .slice(-shownFrames)
    .map(({ file, line, name }) => `File "${file}", line ${line}, in ${name}`)
    .join('\n')

/** Exceptions of any program; more specific rules have more confidence. */
export const exceptionRule: Rule = given => [...findingsOf(given, signatures), ...uncaught(given)]
