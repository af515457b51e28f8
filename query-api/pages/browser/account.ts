import { ApiFailure, get, post, wrongPassword } from './api.ts'
import { element, openPage, textOf } from './page.ts'

type Me = { username: string; role: string }
type Methods = { password: { enabled: boolean }; oidc: { name: string | null } }

const form = element<HTMLFormElement>('change')

form.addEventListener('submit', event => {
  event.preventDefault()
  void change()
})

const start = () =>
  openPage(['account'], async () => {
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
  })

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
    say({ changed: '', error: textOf(error) })
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

await start()
