import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { type Api, createApi } from '../api.ts'
import { contextsPath, normalHost, readContexts, targetOf, writeContexts } from '../contexts.ts'
import { type ExitCode, exitCode, usageFailure } from '../failure.ts'
import type { CommonOptions, World } from '../session.ts'
import { version } from '../version.ts'

type LoginOptions = CommonOptions & {
  username?: string
  passwordStdin?: boolean
  tokenStdin?: boolean
}
type SignedIn = { token: string; user: { username: string; role: string } }

export function describeLogin(command: Command): Command {
  return command
    .description('sign in and keep the token for later commands')
    .option('-u, --username <name>', 'who signs in; asked for on a terminal')
    .option('--password-stdin', 'read the password from standard input')
    .option('--token-stdin', 'read an access token from standard input instead of a password')
}

export async function login(world: World, options: LoginOptions): Promise<ExitCode> {
  const { terminal, env } = world
  if (options.passwordStdin && options.tokenStdin)
    throw usageFailure('--password-stdin and --token-stdin exclude each other')
  const path = contextsPath(env)
  const contexts = await readContexts(path)
  const { host } = targetOf(options.host, env, contexts)
  const connect = (token: string | null): Api =>
    createApi({
      host: normalHost(host),
      token,
      userAgent: `forge-cli/${version}`,
      onSlow: reason => terminal.note(reason),
    })
  const { token, user } = options.tokenStdin
    ? await byToken(connect, await firstLineOfStdin())
    : await byPassword(connect(null), options)
  await writeContexts(path, {
    current: host,
    hosts: { ...contexts.hosts, [host]: { token, username: user.username } },
  })
  const expires_at = expiryOf(token)
  if (options.json) terminal.data(JSON.stringify({ host, ...user, expires_at }))
  else
    terminal.note(
      `Signed in at ${host} as ${user.username} (${user.role})${expires_at ? `, until ${expires_at}` : ''}`,
    )
  if (env.FORGE_TOKEN) terminal.note('FORGE_TOKEN is set and goes before what was stored now')
  return exitCode.ok
}

async function byToken(connect: (token: string) => Api, token: string): Promise<SignedIn> {
  const { username, role } = await connect(token).get<SignedIn['user']>('/api/auth/me')
  return { token, user: { username, role } }
}

async function byPassword(api: Api, options: LoginOptions): Promise<SignedIn> {
  const username = options.username ?? (await ask('Username: ', '--username'))
  const password = options.passwordStdin
    ? await firstLineOfStdin()
    : await ask('Password: ', '--password-stdin', { isHidden: true })
  return api.post<SignedIn>('/api/auth/login', { username, password })
}

/** When a token ends by itself, read from the token; null where it does not say. */
function expiryOf(token: string): string | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof exp === 'number' ? new Date(exp * 1000).toISOString() : null
  } catch {
    return null
  }
}

async function firstLineOfStdin(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  const line = text.split(/\r?\n/)[0] ?? ''
  if (line === '') throw usageFailure('Standard input is empty')
  return line
}

/** Asks on a terminal; without one there is nobody to answer, and the flag is named instead. */
async function ask(question: string, flag: string, { isHidden = false } = {}): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageFailure(`Nobody can be asked here: give ${flag}`)
  let isMuted = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) process.stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  lines.on('SIGINT', () => process.exit(exitCode.interrupted))
  const answer = lines.question(question)
  isMuted = isHidden
  try {
    return await answer
  } finally {
    lines.close()
    if (isHidden) process.stderr.write('\n')
  }
}
