import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { TrafficSummary } from '../../../../../schemas/traffic.ts'
import { Ask } from '../../design/ask.tsx'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Num } from '../../design/number.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { State } from '../../design/state.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, pathOf, type Token, type TokenCreated } from './paths.ts'
import { words } from './words.ts'

type Props = { deployment: Deployment; summary: TrafficSummary | null }

/** Who may call the deployment, how each of them fares, and ending that. */
export function Tokens({ deployment, summary }: Props) {
  const say = useWords(words)
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<TokenCreated | null>(null)
  const [revoked, setRevoked] = useState<Token | null>(null)
  const tokens = useQuery(
    reading<Token[]>(`${pathOf(deployment.deployment_id)}/tokens`, { limit: 100 }),
  )
  const of = (token_id: string) => summary?.groups.find(({ key }) => key === token_id)
  return (
    <Panel
      title={say.tokens}
      actions={<Button onClick={() => setNew(true)}>{say.newToken}</Button>}
    >
      <QueryTable
        of={tokens}
        none={<p className={styles.soft}>{say.noTokens}</p>}
        caption={say.tokens}
        keyOf={one => one.token_id}
        columns={[
          { key: 'name', title: say.name, cell: one => <TokenName token={one} /> },
          { key: 'state', title: say.state, cell: one => <TokenState token={one} /> },
          {
            key: 'used',
            title: say.lastUsed,
            cell: one => (one.last_used_at === null ? say.never : <Ago at={one.last_used_at} />),
          },
          {
            key: 'requests',
            title: say.requests,
            isNumber: true,
            cell: one => <Num value={one.requests_24h} />,
          },
          {
            key: 'errors',
            title: say.errors,
            isNumber: true,
            cell: one => <Num value={of(one.token_id)?.errors ?? 0} />,
          },
          {
            key: 'ttft',
            title: say.ttft,
            isNumber: true,
            cell: one => <Num value={of(one.token_id)?.ttft_ms_p50 ?? '–'} />,
          },
          {
            key: 'rate',
            title: say.tokensPerS,
            isNumber: true,
            cell: one => <Num value={of(one.token_id)?.tokens_per_s ?? '–'} />,
          },
          {
            key: 'revoke',
            title: '',
            cell: one =>
              one.revoked_at === null && (
                <Button
                  kind="quiet"
                  isDangerous
                  aria-label={`${say.revoke}: ${one.name}`}
                  onClick={() => setRevoked(one)}
                >
                  {say.revoke}
                </Button>
              ),
          },
        ]}
      />
      {isNew && <NewToken deployment={deployment} onMade={setMade} onClose={() => setNew(false)} />}
      {made && (
        <Dialog title={say.onceTitle(made.name)} onClose={() => setMade(null)}>
          <p>{say.once}</p>
          <Copyable text={made.token ?? ''} />
        </Dialog>
      )}
      {revoked && (
        <Revoke deployment={deployment} token={revoked} onClose={() => setRevoked(null)} />
      )}
    </Panel>
  )
}

/** People see which tokens capture. */
function TokenName({ token: { name, capture } }: { token: Token }) {
  const say = useWords(words)
  return (
    <>
      {visible(name)} {capture && <Badge>{say.captures}</Badge>}
    </>
  )
}

function TokenState({ token: { revoked_at } }: { token: Token }) {
  const say = useWords(words)
  const language = useLanguage()
  if (revoked_at === null) return <State state="active" />
  return (
    <span title={new Date(revoked_at).toLocaleString(language)}>
      <State state="revoked" text={say.rejected(timeOf(new Date(revoked_at), language))} />
    </span>
  )
}

/** The time of today; the date of an earlier day. */
const timeOf = (at: Date, language: string): string =>
  at.toDateString() === new Date().toDateString()
    ? at.toLocaleTimeString(language)
    : at.toLocaleDateString(language)

type NewProps = {
  deployment: Deployment
  onMade: (made: TokenCreated) => void
  onClose: () => void
}

function NewToken({ deployment, onMade, onClose }: NewProps) {
  const say = useWords(words)
  const path = `${pathOf(deployment.deployment_id)}/tokens`
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const body = {
      name: String(given.get('name')).trim(),
      capture: given.get('capture') !== null,
    }
    onMade(await request<TokenCreated>('POST', path, { body }))
    await reread(path)
    onClose()
  })
  return (
    <Dialog title={say.newTokenOf(deployment.name)} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <TextField label={say.name} name="name" maxLength={128} required autoFocus />
        <label>
          <input type="checkbox" name="capture" /> {say.capture}
        </label>
        <p className={styles.soft}>{say.captureHint}</p>
        <FormEnd error={error} isBusy={isBusy} text={say.create} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

type RevokeProps = { deployment: Deployment; token: Token; onClose: () => void }

function Revoke({ deployment, token, onClose }: RevokeProps) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const path = `${pathOf(deployment.deployment_id)}/tokens`
  const revoke = () =>
    act(async () => {
      await request('DELETE', `${path}/${token.token_id}`)
      await reread(path)
      onClose()
    })
  return (
    <Ask
      title={say.revokeOf(token.name)}
      text={say.revoke}
      isDangerous
      busy={isBusy}
      error={error}
      onYes={() => void revoke()}
      onClose={onClose}
    >
      <p>{say.sureRevoke}</p>
    </Ask>
  )
}
