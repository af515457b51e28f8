import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { printSecret } from '../program/print-secret.ts'
import { request } from '../program/request.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { firstLineOfStdin } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'

type User = {
  username: string
  role: string
  display_name: string | null
  email: string | null
  disabled: boolean
  last_login_at: string | null
  auth: string
  second_factor: boolean
}
type WrittenUser = User & { password: string | null }

type ProfileOptions = CommonOptions & Texts<'displayName' | 'email'> & Flags<'passwordStdin'>
type AddOptions = ProfileOptions & Flags<'admin'>
type SetOptions = ProfileOptions & Texts<'role'> & Flags<'resetPassword'>

const path = '/api/admin/users'

const profileOptions = {
  '--display-name <text>': 'the name shown; an empty text removes it',
  '--email <address>': 'an empty text removes it',
  '--password-stdin': 'read the password from standard input',
}

export const describeUserList = describe({ text: 'list the users' })

export const userList = list<User>({
  path,
  shown: {
    columns: [
      { title: 'USER', cell: row => row.username, shrinks: true },
      { title: 'ROLE', cell: row => row.role },
      { title: 'STATE', cell: row => (row.disabled ? 'disabled' : 'enabled') },
      { title: 'SIGNS IN BY', cell: row => row.auth },
      { title: 'SECOND FACTOR', cell: row => (row.second_factor ? 'yes' : 'no'), drops: true },
      { title: 'LAST SIGN-IN', cell: row => row.last_login_at ?? 'never' },
      { title: 'NAME', cell: row => row.display_name ?? '', shrinks: true, drops: true },
      { title: 'E-MAIL', cell: row => row.email ?? '', shrinks: true, drops: true },
    ],
  },
})

export const describeUserAdd = describe({
  text: 'create a user; without a password, one is generated and shown once',
  operands: { '<username>': '' },
  options: {
    ...profileOptions,
    '--admin': 'with the role admin',
  },
})

export async function userAdd(
  world: World,
  username: string,
  options: AddOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api } = session
  const role = options.admin ? 'admin' : 'operator'
  const body = { username, role, ...(await profileOf(world, options)) }
  const user = await api.post<WrittenUser>(path, body, { creates: true })
  await report(session, user, { said: 'Created', isExpected: options.passwordStdin !== true })
  return exitCode.ok
}

export const describeUserSet = describe({
  text: 'change a user',
  operands: { '<username>': '' },
  options: {
    ...profileOptions,
    '--role <role>': 'admin or operator; takes effect at once',
    '--reset-password': 'generate a password, show it once, and end the sessions',
  },
})

export async function userSet(
  world: World,
  username: string,
  options: SetOptions,
): Promise<ExitCode> {
  if (options.resetPassword && options.passwordStdin)
    throw usageFailure('--reset-password and --password-stdin cannot be combined')
  const change = {
    ...(options.role !== undefined && { role: options.role }),
    ...(options.resetPassword && { password: null }),
    ...(await profileOf(world, options)),
  }
  if (Object.keys(change).length === 0)
    throw usageFailure('Nothing to change', 'hint: forge admin users set --help lists the options')
  return changeUser(world, { username, options, change, said: 'Changed' })
}

export const describeUserDisable = describe({
  text: 'end the sessions and tokens of a user, who can no longer sign in; jobs continue',
  operands: { '<username>': '' },
})

export const userDisable = (
  world: World,
  username: string,
  options: CommonOptions,
): Promise<ExitCode> =>
  changeUser(world, { username, options, change: { disabled: true }, said: 'Disabled' })

export const describeUserEnable = describe({
  text: 'let a disabled user sign in again',
  operands: { '<username>': '' },
})

export const userEnable = (
  world: World,
  username: string,
  options: CommonOptions,
): Promise<ExitCode> =>
  changeUser(world, { username, options, change: { disabled: false }, said: 'Enabled' })

export const describeUserRemoveSecondFactor = describe({
  text: 'remove the second factor of a user who lost it; the password alone is enough again',
  operands: { '<username>': '' },
})

export const userRemoveSecondFactor = request({
  send: ({ api }, _, username) => api.delete(`${path}/${segment(username)}/second-factor`),
  note: (_, __, username) => `Removed the second factor of ${username}`,
})

type Change = { username: string; options: CommonOptions; change: object; said: string }

async function changeUser(world: World, { username, options, change, said }: Change) {
  const session = await openSignedIn(world, options)
  const user = await session.api.patch<WrittenUser>(`${path}/${segment(username)}`, change)
  await report(session, user, { said, isExpected: false })
  return exitCode.ok
}

type Written = { said: string; isExpected: boolean }

/** Only the password goes to stdout, so that a script can capture it. */
async function report(session: Session, user: WrittenUser, { said, isExpected }: Written) {
  const { terminal, isJson } = session
  const { username, role, password } = user
  const another = `generate another: forge admin users set ${username} --reset-password`
  const lost = `${said} ${username}, but the password could not be printed; ${another}`
  if (!isJson) terminal.note(`${said} ${username} (${role})`)
  if (password !== null) {
    if (!isJson)
      terminal.note(
        'Their password, shown only now; they replace it at the first sign-in, within 24 hours:',
      )
    await printSecret(session, [isJson ? toJson(user) : password], lost)
  } else if (isJson) terminal.data(toJson(user))
  else if (isExpected) terminal.note(`The response with the password was lost; ${another}`)
}

async function profileOf(
  { process }: World,
  { displayName, email, passwordStdin }: ProfileOptions,
) {
  return {
    ...(displayName !== undefined && { display_name: displayName || null }),
    ...(email !== undefined && { email: email || null }),
    ...(passwordStdin && { password: await firstLineOfStdin(process) }),
  }
}
