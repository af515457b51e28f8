import type { LogLine } from '../../../schemas/logs.ts'

/** A line of the log in the form that rules read. */
export type CaseLine = Omit<LogLine, 'attempt'>

export type Frame = { file: string; line: number; name: string }

/** An exception that Python printed, with the exceptions that led to it. */
export type Traceback = {
  first: CaseLine
  /** The line with the type and the message. */
  last: CaseLine
  type: string
  message: string
  /** The outermost first. */
  frames: Frame[]
  /** The exceptions during whose handling this one was raised, and their frames. */
  causes: { type: string; message: string; frames: Frame[] }[]
}

const header = 'Traceback (most recent call last):'
const between =
  /^(?:The above exception was the direct cause|During handling of the above exception)/
const frameLine = /^\s+File "([^"]{1,400})", line (\d{1,7})(?:, in (.{1,200}))?/
const raisedLine = /^([A-Za-z_][\w.]{0,200})(?:: ?(.*))?$/
const maxFrames = 100

type Reading = { first: CaseLine; frames: Frame[]; causes: Traceback['causes'] }
type Source = { reading: Reading | null; finished: Traceback | null; continues: boolean }

/** Every traceback of the log, by its last line. The ranks of a run may print theirs at the same time. */
export function tracebacksIn(lines: readonly CaseLine[]): Traceback[] {
  const sources = new Map<string, Source>()
  const found = new Set<Traceback>()
  for (const line of lines) {
    const key = `${line.node} ${line.rank} ${line.stream}`
    const source = sources.get(key) ?? { reading: null, finished: null, continues: false }
    sources.set(key, source)
    read(source, line, found)
  }
  return [...found].sort((a, b) => a.last.seq - b.last.seq)
}

function read(source: Source, line: CaseLine, found: Set<Traceback>): void {
  const { text } = line
  if (text.trim() === header) {
    const cause = source.continues ? source.finished : null
    if (cause) found.delete(cause)
    source.reading = {
      first: cause?.first ?? line,
      frames: [],
      causes: cause ? [...cause.causes, partOf(cause)] : [],
    }
    source.continues = false
    return
  }
  if (source.reading) readInside(source, source.reading, line, found)
  else if (between.test(text)) source.continues = source.finished !== null
}

const partOf = ({ type, message, frames }: Traceback) => ({ type, message, frames })

function readInside(source: Source, reading: Reading, line: CaseLine, found: Set<Traceback>): void {
  const frame = frameLine.exec(line.text)
  if (frame) {
    const [, file = '', number = '0', name = ''] = frame
    reading.frames.push({ file, line: Number(number), name })
    if (reading.frames.length > maxFrames) reading.frames.splice(0, 1)
    return
  }
  if (/^\s/.test(line.text) || line.text === '') return
  const raised = raisedLine.exec(line.text)
  source.reading = null
  if (!raised) return
  const [, type = '', message = ''] = raised
  const { first, frames, causes } = reading
  source.finished = { first, last: line, type, message, frames, causes }
  found.add(source.finished)
}

const ofLibraries =
  /(?:site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]python3[.\d]*[/\\]|^<frozen|^<string>)/

/** The innermost frame of the person's own code; of a library if there is none. */
export function ownFrame({ frames }: Pick<Traceback, 'frames'>): Frame | null {
  return frames.findLast(({ file }) => !ofLibraries.test(file)) ?? frames.at(-1) ?? null
}

/** Comprehensions and lambdas are functions for Python, and parts of one for people. */
const isNamed = ({ name }: Frame) => !name.startsWith('<')

/** The function around the innermost frame of the person's own code. */
export const ownFunction = ({ frames }: Pick<Traceback, 'frames'>): Frame | null =>
  frames.findLast(frame => isNamed(frame) && !ofLibraries.test(frame.file)) ?? ownFrame({ frames })

/** The last part of a dotted name. */
export const shortName = (type: string): string => type.slice(type.lastIndexOf('.') + 1)

export const baseName = (file: string): string => file.slice(file.search(/[^/\\]*$/))

/** The exceptions by which a process notices that another one failed, or that it must end. */
const echoes =
  /^(?:DistBackendError|DistNetworkError|DistStoreError|BrokenPipeError|ConnectionResetError|ConnectionRefusedError|ConnectionAbortedError|ChildFailedError|SignalException|ProcessRaisedException|ProcessExitedException|KeyboardInterrupt|SystemExit|CalledProcessError|BrokenProcessPool|RayActorError|EOFError)$/

export const isEcho = ({ type, message }: Pick<Traceback, 'type' | 'message'>): boolean =>
  echoes.test(shortName(type)) || /NCCL|Connection (?:closed|reset) by peer|Gloo/.test(message)

/** The first exception that ended the run: among the last failures, the root cause. */
export function rootTraceback(tracebacks: readonly Traceback[]): Traceback | null {
  const own = tracebacks.filter(one => !isEcho(one))
  const last = own.at(-1)
  if (!last) return tracebacks.at(-1) ?? null
  // Ranks that fail for the same reason do so within seconds; the first one counts.
  return own.find(one => one.type === last.type && last.last.ts - one.last.ts < 30_000) ?? last
}
