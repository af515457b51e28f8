import { createInterface } from 'node:readline/promises'
import { addressAt } from '../api/address.ts'
import { type Api, createApi, segment } from '../api/client.ts'
import { findDeployment } from '../deployments/find.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import {
  type CommonOptions,
  openSession,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { version } from '../program/version.ts'
import { harmless, toJson } from '../terminal/harmless.ts'
import { type Answered, streamAnswer } from './stream-answer.ts'

type ChatOptions = CommonOptions &
  Texts<
    'token' | 'template' | 'profile' | 'system' | 'maxTokens' | 'temperature' | 'seed' | 'served'
  >

type Playground = {
  session_id: string
  state: string
  state_reason: string | null
  base_url: string
  served_names: string[]
}
type Message = { role: 'system' | 'user' | 'assistant'; content: string }

/** The address of a conversation: the path before `/chat/completions`, and a client with the credentials. */
type Line = { api: Api; path: string; model: string; close: () => Promise<unknown> }

export const describeChat = describe({
  text: 'talk to a model; shows the time to the first token and tokens per second',
  operands: {
    '<what>': 'a deployment, an artifact (art_…) or a version of a model (name@alias)',
    '[question...]': 'asked once; without one, each line of standard input is a question',
  },
  options: {
    '--token <token>': 'of the deployment; without one, a session under your own name is opened',
    '--template <name>': 'what serves an artifact or a model, e.g. vllm, tiny-lm',
    '--profile <name>': 'the machine that serves it',
    '--system <text>': 'a system prompt',
    '--max-tokens <count>': 'the maximum length of a reply',
    '--temperature <number>': '',
    '--seed <number>': '',
    '--served <name>': 'one of several names that the engine serves',
  },
})

export async function chat(
  world: World,
  what: string,
  words: string[],
  options: ChatOptions,
): Promise<ExitCode> {
  const asked = askedWith(options)
  const session = await (options.token === undefined ? openSignedIn : openSession)(world, options)
  const line = await lineTo(session, what, options)
  try {
    const past: Message[] =
      options.system === undefined ? [] : [{ role: 'system', content: options.system }]
    if (words.length > 0) return await answer(session, line, asked, past, words.join(' '))
    return await converse(session, line, asked, past)
  } finally {
    await line.close().catch(() => {})
  }
}

type Asked = { max_tokens?: number; temperature?: number; seed?: number }

function askedWith({ maxTokens, temperature, seed }: ChatOptions): Asked {
  const number = (flag: string, text: string | undefined) => {
    if (text === undefined) return undefined
    if (!/^\d+(\.\d+)?$/.test(text)) throw usageFailure(`${flag} ${text}: give a number`)
    return Number(text)
  }
  const all = {
    max_tokens: number('--max-tokens', maxTokens),
    temperature: number('--temperature', temperature),
    seed: number('--seed', seed),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** Opens a conversation with a deployment, an artifact or a version of a model. */
export async function lineTo(session: Session, what: string, options: ChatOptions): Promise<Line> {
  const { api } = session
  if (options.token !== undefined) {
    if (!/^dep_\w+$/.test(what) && !api.isSignedIn)
      throw usageFailure('With --token alone, name the deployment by its id (dep_…)')
    const id = api.isSignedIn ? (await findDeployment(api, what)).deployment_id : what
    const own = createApi({
      ...{ host: api.host, token: options.token, userAgent: `forge-cli/${version}` },
      onSlow: () => {},
    })
    const path = `/inference/${segment(id)}/v1`
    return { api: own, path, model: options.served ?? 'default', close: async () => {} }
  }
  const made = await api.post<Playground>('/api/playground', await sourceOf(api, what, options), {
    creates: true,
  })
  const own = `/api/playground/${segment(made.session_id)}`
  const close = () => api.delete(own)
  try {
    const ready = await untilReady(session, own)
    const path = addressAt(api.host, ready.base_url).slice(api.host.length)
    return { api, path, model: options.served ?? ready.served_names[0] ?? 'default', close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

async function sourceOf(api: Api, what: string, { template, profile }: ChatOptions) {
  const serving = {
    ...(template !== undefined && { template }),
    ...(profile !== undefined && { profile }),
  }
  if (what.startsWith('art_')) return { source: { artifact_id: what }, ...serving }
  if (what.includes('@')) return { source: { model: what }, ...serving }
  const { promoted_revision_id, name, state } = await findDeployment(api, what)
  if (promoted_revision_id === null)
    throw new Failure(exitCode.conflict, `${name} serves nothing yet: it is ${state}`, {
      lines: [`hint: forge deploy show ${what} shows why`],
    })
  return { source: { revision_id: promoted_revision_id } }
}

const pollMs = 500
const waitMs = 1_800_000

async function untilReady({ api, terminal }: Session, path: string): Promise<Playground> {
  const deadline = performance.now() + waitMs
  let shown = ''
  for (;;) {
    const found = await api.get<Playground>(path)
    if (found.state === 'ready') return found
    if (found.state !== 'starting' || performance.now() > deadline)
      throw new Failure(
        exitCode.unavailable,
        `No engine responds: ${found.state_reason ?? found.state}`,
      )
    if (found.state !== shown) terminal.note('starting an engine for it')
    shown = found.state
    await pause(pollMs)
  }
}

async function converse(
  session: Session,
  line: Line,
  asked: Asked,
  past: Message[],
): Promise<ExitCode> {
  const { process } = session
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  const input = createInterface({
    input: process.stdin,
    ...(isTerminal && { output: process.stderr, prompt: '> ' }),
  })
  if (isTerminal) session.terminal.note('Ctrl-C stops a reply, Ctrl-D ends')
  input.prompt()
  let code: ExitCode = exitCode.ok
  for await (const text of input) {
    if (text.trim() !== '') code = await answer(session, line, asked, past, text)
    if (isTerminal) input.prompt()
  }
  return code
}

/** Streams a reply and appends question and reply to the conversation. Ctrl-C stops only the reply. */
async function answer(
  { terminal, isJson, process }: Session,
  { api, path, model }: Line,
  asked: Asked,
  past: Message[],
  question: string,
): Promise<ExitCode> {
  past.push({ role: 'user', content: question })
  const giveUp = new AbortController()
  const stop = () => giveUp.abort()
  process.once('SIGINT', stop)
  const asking = {
    path: `${path}/chat/completions`,
    body: { model, messages: past, ...asked },
    onPiece: (piece: string) => void (isJson || process.stdout.write(harmless(piece))),
  }
  const answered = await streamAnswer(api, asking, giveUp.signal).finally(() =>
    process.off('SIGINT', stop),
  )
  const { text, ...figures } = answered
  past.push({ role: 'assistant', content: text })
  if (isJson) terminal.data(toJson({ question, answer: text, ...figures }))
  else {
    process.stdout.write('\n')
    terminal.note(terminal.paintNote('dim', figuresText(answered)))
  }
  return exitCode.ok
}

function figuresText({ ttft_ms, completion_tokens, tokens_per_s, aborted }: Answered): string {
  if (ttft_ms === null) return 'no reply'
  const speed = `${completion_tokens} tokens, ${tokens_per_s} tokens/s`
  return `first token after ${ttft_ms} ms, ${speed}${aborted ? ', stopped' : ''}`
}
