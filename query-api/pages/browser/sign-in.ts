import { get, refresh, signIn, storedToken } from './api.ts'

type SignInMethods = {
  password: { enabled: boolean }
  oidc: { enabled: boolean; name: string | null; login_url: string | null }
}

/** `isAsked`: whoever is signed in, the form is shown, and `why` beside it. */
export type Asking = { isAsked?: boolean; why?: string }

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T

/** Resolves when somebody is signed in: at once with a valid refresh cookie, else after the form. */
export async function signedIn({ isAsked = false, why = '' }: Asking = {}): Promise<void> {
  if (!isAsked && (storedToken() !== null || (await refresh()))) return
  const form = element<HTMLFormElement>('sign-in')
  form.hidden = false
  element('sign-in-error').textContent = why
  await offerMethods(isAsked)
  form.querySelector<HTMLElement>('a:not([hidden]), div:not([hidden]) input')?.focus()
  await submitted(form)
  form.hidden = true
}

/**
 * With an identity provider, its link replaces the password fields. To switch accounts, the provider is told
 * to ask again, because it would otherwise reuse its own session.
 */
async function offerMethods(isAsked: boolean): Promise<void> {
  const { password, oidc } = await get<SignInMethods>('/api/auth/config')
  element('sign-in-password').hidden = !password.enabled
  const link = element<HTMLAnchorElement>('sign-in-elsewhere')
  link.hidden = !oidc.enabled || oidc.login_url === null
  if (oidc.login_url === null) return
  const url = new URL(oidc.login_url, location.origin)
  url.searchParams.set('return_to', location.pathname + location.search)
  if (isAsked) url.searchParams.set('prompt', 'login')
  link.href = url.href
  link.textContent = `Sign in with ${oidc.name ?? 'your organisation'}`
}

/** Resolves with the first accepted try; shows the reason after each refused one. */
function submitted(form: HTMLFormElement): Promise<void> {
  const failure = element('sign-in-error')
  return new Promise(resolve => {
    form.onsubmit = async event => {
      event.preventDefault()
      const given = new FormData(form)
      failure.textContent = ''
      try {
        await signIn(String(given.get('username')), String(given.get('password')))
        form.reset()
        resolve()
      } catch (error) {
        failure.textContent = error instanceof Error ? error.message : String(error)
      }
    }
  })
}
