import { ApiFailure, forgetToken, get, post, signOut } from './api.ts'
import { element, openPage, textOf, timeOf } from './page.ts'
import type { Asking } from './sign-in.ts'

type State = 'pending' | 'approved' | 'denied' | 'consumed' | 'expired'
type DeviceRequest = {
  user_code: string
  requested_ip: string
  user_agent: string
  requested_at: string
  expires_at: string
  state: State
}

const panels = ['enter-code', 'request', 'outcome']

const outcomes: Record<Exclude<State, 'pending'>, [title: string, text: string]> = {
  approved: ['Approved', 'The program is signed in within a few seconds. You can close this page.'],
  denied: ['Denied', 'The program was not signed in. You can close this page.'],
  consumed: ['Already used', 'A program was signed in with this code; no other one can be.'],
  expired: ['Expired', 'This code is no longer valid. Start the sign-in again for a new one.'],
}

element<HTMLFormElement>('enter-code').addEventListener('submit', event => {
  event.preventDefault()
  const typed = new FormData(event.target as HTMLFormElement).get('user_code')
  history.replaceState(null, '', `?${new URLSearchParams({ user_code: String(typed).trim() })}`)
  void start()
})
element('approve').addEventListener('click', () => decide('approve'))
element('deny').addEventListener('click', () => decide('deny'))
element('other-person').addEventListener('click', async () => {
  await signOut()
  await start({ isAsked: true })
})

const start = (asking?: Asking) =>
  openPage(
    ['device'],
    async () => {
      element('who').textContent = (await get<{ username: string }>('/api/auth/me')).username
      element('device').hidden = false
      await showCode()
    },
    asking,
  )

const codeAsked = () => new URLSearchParams(location.search).get('user_code') ?? ''

async function showCode(): Promise<void> {
  if (codeAsked() === '') {
    showPanel('enter-code')
    return
  }
  try {
    show(await get<DeviceRequest>(pathOf(codeAsked())))
  } catch (error) {
    if (!(error instanceof ApiFailure) || ![404, 422, 429].includes(error.status)) throw error
    element<HTMLFormElement>('enter-code').reset()
    showPanel('enter-code')
    element('code-error').textContent =
      error.status === 429 ? error.message : `No program waits with the code ${codeAsked()}.`
  }
}

function show(request: DeviceRequest): void {
  if (request.state !== 'pending') {
    const [title, text] = outcomes[request.state]
    element('outcome-title').textContent = title
    element('outcome-text').textContent = text
    showPanel('outcome')
    return
  }
  element('user-code').textContent = request.user_code
  element('requested-ip').textContent = request.requested_ip
  element('user-agent').textContent = request.user_agent || 'does not say'
  element('requested-at').replaceChildren(timeOf(request.requested_at))
  showPanel('request')
  countDown(request)
}

/** Shows one panel and focuses its heading, so that screen readers read it. */
function showPanel(id: string): void {
  for (const panel of panels) element(panel).hidden = panel !== id
  for (const alert of ['code-error', 'request-error']) element(alert).textContent = ''
  element(id).querySelector('h2')?.focus()
}

let timer: ReturnType<typeof setInterval> | undefined

function countDown(request: DeviceRequest): void {
  clearInterval(timer)
  const tick = () => {
    const leftS = Math.ceil((Date.parse(request.expires_at) - Date.now()) / 1000)
    element('valid-for').textContent =
      `${Math.floor(Math.max(0, leftS) / 60)} min ${String(Math.max(0, leftS) % 60).padStart(2, '0')} s`
    if (leftS > 0 || element('request').hidden) return
    clearInterval(timer)
    show({ ...request, state: 'expired' })
  }
  timer = setInterval(tick, 1000)
  tick()
}

async function decide(verb: 'approve' | 'deny'): Promise<void> {
  const buttons = ['approve', 'deny'].map(id => element<HTMLButtonElement>(id))
  for (const button of buttons) button.disabled = true
  try {
    show(await post<DeviceRequest>(`${pathOf(codeAsked())}/${verb}`))
  } catch (error) {
    await explain(error)
  } finally {
    for (const button of buttons) button.disabled = false
  }
}

/** Approving needs a sign-in of the last minutes, made in a browser. */
const weakSignIn: readonly unknown[] = ['device.sign_in_again', 'device.from_device']

/** If signed out in the meantime, signs in and reloads; if already decided, shows the outcome. */
async function explain(error: unknown): Promise<void> {
  if (error instanceof ApiFailure && weakSignIn.includes(error.code)) {
    // Otherwise the page would go on with the old sign-in once the identity provider sends the browser back.
    forgetToken()
    await start({ isAsked: true, why: error.message })
  } else if (error instanceof ApiFailure && [401, 404, 409].includes(error.status)) await start()
  else element('request-error').textContent = textOf(error)
}

const pathOf = (userCode: string) => `/api/cli/device/${encodeURIComponent(userCode)}`

await start()
