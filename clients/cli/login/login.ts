import { hostname } from 'node:os'
import { type Api, createApi } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import type { CommonOptions, Flags, Texts, World } from '../program/session.ts'
import { version } from '../program/version.ts'
import { ask, firstLineOfStdin } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { browserOpener, openInBrowser } from './browser.ts'
import { passwordAndCode, signInByPassword } from './by-password.ts'
import {
  contextsPath,
  type Refresh,
  readContexts,
  signInTarget,
  updateContexts,
  withContext,
} from './contexts.ts'
import { type ShownCode, type SignedIn, signInByDevice } from './device-flow.ts'
import { replaceGenerated } from './passwd.ts'
import { refreshOf } from './renewal.ts'
import { endOfSignIn } from './token.ts'

type LoginOptions = CommonOptions &
  Texts<'username'> &
  Flags<'password' | 'passwordStdin' | 'tokenStdin'> & { browser: boolean }

export const describeLogin = describe({
  text: 'sign in by approving a code in your browser, and keep the token for later commands',
  options: {
    '--password': 'ask for username and password instead',
    '-u, --username <name>': 'the user who signs in by password; asked for on a terminal',
    '--password-stdin':
      'read the password from standard input; on a second line, the code of a second factor',
    '--token-stdin': 'read an access token from standard input',
    '--no-browser': 'print the address only',
  },
})

export async function login(world: World, options: LoginOptions): Promise<ExitCode> {
  const { terminal, env, nowMs } = world
  const way = wayOf(options)
  const path = contextsPath(env)
  const { host } = signInTarget(options, env, await readContexts(path))
  const connect = (token: string | null): Api =>
    createApi({
      host,
      token,
      userAgent: `forge-cli/${version} (${process.platform}; ${machineName()})`,
      onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
      onCookie: cookie => {
        refresh = refreshOf(cookie, nowMs()) ?? refresh
      },
    })
  let refresh: Refresh | null = null
  const { token, user, typed = null } = await ways[way](world, connect, options)
  const { username, role } = user
  // Named only now: a sign-in takes minutes, and another one may have taken the name meanwhile.
  const { current: context } = await updateContexts(path, known => {
    const name = signInTarget({ ...options, host }, {}, known).context
    return { ...withContext(known, name, { host, username, token, refresh }), current: name }
  })
  const expires_at = endOfSignIn({ token, refresh })
  if (options.json)
    terminal.data(toJson({ type: 'signed_in', host, context, username, role, expires_at }))
  else
    terminal.note(
      `Signed in at ${host} as ${username} (${role})${expires_at ? `, until ${expires_at}` : ''}`,
    )
  if (way === 'password') await replaceGenerated({ ...world, api: connect(token) }, typed)
  if (env.FORGE_TOKEN) terminal.note('FORGE_TOKEN is set and overrides the token just stored')
  return exitCode.ok
}

type Way = 'device' | 'password' | 'token'
/** `typed`: the password, if a person typed it. */
type SignIn = (
  world: World,
  connect: (token: string | null) => Api,
  options: LoginOptions,
) => Promise<SignedIn & { typed?: string | null }>

function wayOf({ username, password, passwordStdin, tokenStdin }: LoginOptions): Way {
  if (passwordStdin && tokenStdin)
    throw usageFailure('--password-stdin and --token-stdin cannot be combined')
  if (tokenStdin && (password || username !== undefined))
    throw usageFailure('--token-stdin cannot be combined with a username or password')
  if (tokenStdin) return 'token'
  return password || passwordStdin || username !== undefined ? 'password' : 'device'
}

const ways: Record<Way, SignIn> = {
  async token({ process }, connect) {
    const token = await firstLineOfStdin(process)
    const { username, role } = await connect(token).get<SignedIn['user']>('/api/auth/me')
    return { token, user: { username, role } }
  },

  async password({ process }, connect, options) {
    const username = options.username ?? (await ask(process, 'Username: ', '--username'))
    const [password, given] = options.passwordStdin
      ? await passwordAndCode(process)
      : [await ask(process, 'Password: ', '--password-stdin', { isHidden: true }), null]
    const signed = await signInByPassword(connect(null), { username, password }, given, () =>
      options.passwordStdin
        ? Promise.reject(
            usageFailure('A code is needed as well: on a second line of standard input'),
          )
        : ask(process, codeQuestion, '--password-stdin'),
    )
    return { ...signed, typed: options.passwordStdin ? null : password }
  },

  async device(world, connect, options) {
    const { terminal, nowMs } = world
    const api = connect(null)
    try {
      return await signInByDevice({
        api,
        nowMs,
        pause: ms => pause(ms),
        onCode(code) {
          if (options.json) terminal.data(toJson({ type: 'code', host: api.host, ...code }))
          for (const line of invitation(api.host, code)) terminal.note(line)
          if (options.browser) offerBrowser(world, code.verification_uri_complete)
        },
        onWaiting: leftS => terminal.status(`Waiting for your approval, ${clock(leftS)} left `),
        onTrouble: reason => terminal.note(terminal.paintNote('dim', `${reason}; trying again`)),
      })
    } finally {
      terminal.status(null)
    }
  },
}

const codeQuestion = 'Code of your authenticator, or a recovery code: '

const invitation = (host: string, code: ShownCode): string[] => [
  `To sign in at ${host}, open`,
  `  ${code.verification_uri_complete}`,
  `and approve it there if it shows the code ${code.user_code}.`,
  `The code is valid for ${Math.round(code.expires_in / 60)} minutes.`,
]

function offerBrowser({ env, process: { stderr } }: World, url: string): void {
  const isTerminal = stderr.isTTY === true
  const opener = browserOpener({ platform: process.platform, env, isTerminal })
  if (opener !== null) openInBrowser(opener, url)
}

/** Shown to the person who approves; cut, because headers have limits. */
const machineName = () =>
  hostname()
    .replaceAll(/[^\w.-]/g, '')
    .slice(0, 64)

/** `14:52` */
const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
