import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import {
  type FormEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { DeviceRequest } from '../../../../../schemas/devices.ts'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Failure, Loading } from '../../design/notice.tsx'
import { queries, reading } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { forget, request, session, signOut } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { leftOf, useSecondsUntil } from './countdown.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const pathOfCode = (userCode: string) => `/api/cli/device/${encodeURIComponent(userCode)}`
/** The session came from a code, which may not approve another. */
const fromDevice = 'device.from_device'
const unknownCode = [404, 422, 429]

/** Where a person approves a sign-in that began elsewhere (RFC 8628, 3.3). */
export function Page() {
  const say = useWords(words)
  const { user_code = '' } = useSearch({ strict: false })
  const asked = useQuery({
    ...reading<DeviceRequest>(pathOfCode(user_code)),
    enabled: user_code !== '',
    refetchInterval: 5_000,
  })
  const isUnknown = asked.error instanceof ApiFailure && unknownCode.includes(asked.error.status)
  return (
    <div className={styles.page}>
      <h1 className="visually-hidden">{say.title}</h1>
      {user_code === '' || isUnknown ? (
        <EnterCode tried={user_code} error={asked.error} />
      ) : asked.data ? (
        <Asked request={asked.data} />
      ) : asked.error ? (
        <Failure error={asked.error} />
      ) : (
        <Loading />
      )}
    </div>
  )
}

function EnterCode({ tried, error }: { tried: string; error: unknown }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const typed = String(new FormData(event.currentTarget).get('user_code')).trim()
    void navigate({ to: '/device', search: { user_code: typed } })
  }
  const isLimited = error instanceof ApiFailure && error.status === 429
  return (
    <form className={styles.form} onSubmit={submit}>
      <Title text={say.enter} />
      <p>{say.enterHelp}</p>
      <TextField
        label={say.code}
        name="user_code"
        placeholder="BCDF-GHJK"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        required
        maxLength={64}
        fault={tried === '' ? null : isLimited ? error.message : say.unknown(tried)}
      />
      <Button kind="main" type="submit">
        {say.goOn}
      </Button>
    </form>
  )
}

/** A heading that is focused when it appears, so that it is read aloud. */
function Title({ text }: { text: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (text !== '') heading.current?.focus()
  }, [text])
  return (
    <h2 ref={heading} tabIndex={-1}>
      {text}
    </h2>
  )
}

function Asked({ request: asked }: { request: DeviceRequest }) {
  const left = useSecondsUntil(asked.expires_at)
  const state = asked.state === 'pending' && left <= 0 ? 'expired' : asked.state
  return state === 'pending' ? <Pending request={asked} left={left} /> : <Outcome state={state} />
}

function Outcome({ state }: { state: Exclude<DeviceRequest['state'], 'pending'> }) {
  const say = useWords(words)
  return (
    <div className={styles.form} role="status">
      <Title text={say[state]} />
      <p>{say[`${state}Text`]}</p>
    </div>
  )
}

function Pending({ request: asked, left }: { request: DeviceRequest; left: number }) {
  const say = useWords(words)
  const signedIn = useSyncExternalStore(session.subscribe, session.get)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const decide = async (verb: 'approve' | 'deny') => {
    setBusy(true)
    try {
      const answer = await request<DeviceRequest>('POST', `${pathOfCode(asked.user_code)}/${verb}`)
      queries.setQueriesData({ queryKey: [pathOfCode(asked.user_code)] }, answer)
    } catch (failure) {
      if (failure instanceof ApiFailure && failure.code === fromDevice)
        forget({ said: failure.message })
      else setError(failure)
    }
    await queries.invalidateQueries({ queryKey: [pathOfCode(asked.user_code)] })
    setBusy(false)
  }
  return (
    <div className={styles.form}>
      <Title text={say.asks} />
      <p>{say.compare}</p>
      <p className={styles.code} data-fact="user_code">
        {asked.user_code}
      </p>
      <p>{say.grants}</p>
      <dl className={styles.facts}>
        <Fact name={say.from} id="requested_ip">
          {asked.requested_ip}
        </Fact>
        <Fact name={say.agent} id="user_agent">
          {asked.user_agent || say.silent}
        </Fact>
        <Fact name={say.at} id="requested_at">
          <time dateTime={asked.requested_at}>{new Date(asked.requested_at).toLocaleString()}</time>
        </Fact>
        <Fact name={say.valid} id="valid_for">
          {leftOf(left)}
        </Fact>
        <Fact name={say.as} id="username">
          {signedIn.state === 'signed-in' && signedIn.username}
        </Fact>
      </dl>
      <div className={styles.buttons}>
        <Button kind="main" busy={isBusy} onClick={() => void decide('approve')}>
          {say.approve}
        </Button>
        <Button isDangerous busy={isBusy} onClick={() => void decide('deny')}>
          {say.deny}
        </Button>
        <Button kind="quiet" onClick={() => void signOut()}>
          {say.other}
        </Button>
      </div>
      <Failure error={error} />
    </div>
  )
}

const Fact = ({ name, id, children }: { name: string; id: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd data-fact={id}>{children}</dd>
  </div>
)
