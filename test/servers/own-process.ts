import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Process } from '../../clients/cli/program/process.ts'

type Given = {
  stdin: string
  env: Record<string, string>
  cwd: string
  /** Called with all of stdout so far. */
  onStdout: (text: string) => void
}

/** The parts of a process that a command needs, so that it runs inside a test's process; no signal ever arrives. */
export function ownProcess({ stdin, env, cwd, onStdout }: Given) {
  const stdout = collected(onStdout)
  const stderr = collected(() => {})
  const process: Process = Object.assign(new EventEmitter(), {
    ...{ env, stdin: Readable.from([stdin]), cwd: () => cwd },
    ...{ stdout: stdout.stream, stderr: stderr.stream },
  })
  return { process, stdout: stdout.text, stderr: stderr.text }
}

function collected(onText: (text: string) => void) {
  const decoder = new StringDecoder('utf8')
  let text = ''
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += decoder.write(chunk)
      onText(text)
      done()
    },
  })
  return { stream, text: () => text }
}
