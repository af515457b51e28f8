import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { TextArea } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { reading, reread } from '../../session/api.ts'
import { request, session } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { Content } from './content.tsx'
import { type Detail, path, pathOf } from './paths.ts'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

/** An approval with its content and the decision. */
export function Page() {
  const { approval_id = '' } = useParams({ strict: false })
  const found = useQuery(reading<Detail>(pathOf(approval_id)))
  return (
    <ShownPage of={found}>
      {approval => (
        <div className={layout.sheet}>
          <Head of={approval} />
          {approval.state === 'pending' && <Decide of={approval} />}
          <Content of={approval} />
        </div>
      )}
    </ShownPage>
  )
}

function Head({ of }: { of: Detail }) {
  const say = useWords(words)
  const language = useLanguage()
  const { subject, title, requested_by, rule, state, reason, expires_at, approvers } = of
  return (
    <>
      <header className={layout.head}>
        <h1>{visible(title)}</h1>
        <StateOf state={state} />
      </header>
      <p className={layout.facts}>
        <span>
          {say.by}: {requested_by}
        </span>
        <span>
          {say.rule}: {rule}
        </span>
        <span>
          {say.who}: {approvers.map(({ role, team }) => team ?? say[role ?? 'admin']).join(', ')}
        </span>
        <span>
          {say.expires}: {new Date(expires_at).toLocaleString(language)}
        </span>
        <span>
          {say.digest}: {subject.digest.slice(0, 19)}
        </span>
        {subject.type === 'job' && (
          <Link to="/runs/$run_id" params={{ run_id: subject.id }}>
            {say.run}
          </Link>
        )}
      </p>
      {reason !== null && <p>{visible(reason)}</p>}
      {of.decisions.map(({ by, decision, comment, at }) => (
        <p key={at}>
          {by}: {say[decision]} {visible(comment)}
        </p>
      ))}
    </>
  )
}

function Decide({ of: { approval_id, requested_by } }: { of: Detail }) {
  const say = useWords(words)
  const signedIn = session.get()
  const [comment, setComment] = useState('')
  const { act, error, isBusy } = useAct()
  if (signedIn.state === 'signed-in' && signedIn.username === requested_by)
    return <p className={layout.soft}>{say.own}</p>
  const decide = (decision: string) =>
    act(async () => {
      await request('POST', `${pathOf(approval_id)}/decide`, { body: { decision, comment } })
      await reread(path)
    })
  return (
    <Panel title={say.decision}>
      <div className={layout.form}>
        <TextArea
          label={say.comment}
          hint={say.commentHint}
          rows={2}
          maxLength={2000}
          value={comment}
          onChange={event => setComment(event.target.value)}
        />
        <div className={layout.row}>
          <Button kind="main" busy={isBusy} onClick={() => void decide('approved')}>
            {say.approve}
          </Button>
          <Button isDangerous busy={isBusy} onClick={() => void decide('rejected')}>
            {say.reject}
          </Button>
        </div>
        <Failure error={error} />
      </div>
    </Panel>
  )
}
