import { ApiFailure, get, post, wrongPassword } from './api.ts'
import { signedIn } from './sign-in.ts'

type Me = { username: string; role: string }
type Methods = { password: { enabled: boolean }; oidc: { name: string | null } }

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const form = element<HTMLFormElement>('change')

form.addEventListener('submit', event => {
  event.preventDefault()
  void change()
})

async function start(): Promise<void> {
  element('account').hidden = true
  try {
    await signedIn()
    const [{ username, role }, { password, oidc }] = await Promise.all([
      get<Me>('/api/auth/me'),
      get<Methods>('/api/auth/config'),
    ])
    element('who').textContent = username
    element('role').textContent = role
    element('provider').textContent = oidc.name ?? 'your organisation'
    element('elsewhere').hidden = password.enabled
    form.hidden = !password.enabled
    element('account').hidden = false
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) await start()
    else showFailure(error)
  }
}

async function change(): Promise<void> {
  const given = new FormData(form)
  const [current, wanted] = [String(given.get('current')), String(given.get('new'))]
  say({ changed: '', error: '' })
  if (wanted !== String(given.get('again')))
    return say({ changed: '', error: 'The new passwords are not the same.' })
  const button = element<HTMLButtonElement>('submit')
  button.disabled = true
  try {
    await post('/api/auth/password', { current, new: wanted })
    form.reset()
    say({ changed: 'Changed. Your other sessions have ended.', error: '' })
  } catch (error) {
    if (isSignedOut(error)) return await start()
    say({ changed: '', error: error instanceof Error ? error.message : String(error) })
  } finally {
    button.disabled = false
  }
}

const isSignedOut = (error: unknown) =>
  error instanceof ApiFailure && error.status === 401 && error.code !== wrongPassword

function say({ changed, error }: { changed: string; error: string }): void {
  element('changed').textContent = changed
  element('change-error').textContent = error
}

function showFailure(error: unknown): void {
  const failure = element('failure')
  failure.hidden = false
  failure.textContent = error instanceof Error ? error.message : String(error)
}

await start()
