import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Empty, Loading, Shown } from '../../design/notice.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { usePart } from '../../design/use-part.ts'
import { readAhead } from '../../session/ahead.ts'
import { reading } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import type { Ahead } from '../slice.ts'
import { Head } from './head.tsx'
import styles from './page.module.css'
import type { JobDetail } from './phases.ts'
import { type TabContent, tabs } from './tabs.ts'
import { pathOfJob, pathOfRun, type RunRecord, readingRun, useRun } from './use-run.ts'
import { words } from './words.ts'

export const ahead: Ahead = ({ params: { run_id = '' } }) => [readingRun(run_id)]

export function Page() {
  const { run_id = '', tab = 'overview' } = useParams({ strict: false })
  const run = useRun(run_id)
  useState(() => tab === 'metrics' && readAhead(`${pathOfRun(run_id)}/metrics/keys`))
  const known = tabs.find(({ name }) => name === tab)
  const Content = usePart(known?.load ?? null)?.Tab ?? (known ? Loading : null)
  if (run.error instanceof ApiFailure && run.error.status === 404)
    return <Missing key={run_id} runId={run_id} error={run.error} />
  return (
    <Shown of={run}>
      {record => <Run key={record.run_id} run={record} tab={tab} Content={Content} />}
    </Shown>
  )
}

const loadDeleted = () => import('./deleted.tsx')

function Missing(props: { runId: string; error: unknown }) {
  const part = usePart(loadDeleted)
  return part ? <part.Deleted {...props} /> : <Loading />
}

type RunProps = { run: RunRecord; tab: string; Content: TabContent | null }

function Run({ run, tab, Content }: RunProps) {
  const say = useWords(words)
  const language = useLanguage()
  const isFilling = tabs.some(one => one.name === tab && one.isFilling)
  const job = useQuery({
    ...reading<JobDetail>(pathOfJob(run.run_id)),
    enabled: run.job_exists,
  })
  return (
    <div className={isFilling ? styles.filling : styles.page}>
      <Head run={run} job={job.data ?? null} />
      <Tabs label={run.short_id}>
        {tabs.map(({ name, title }) => (
          <Link
            key={name}
            to="/runs/$run_id/$tab"
            params={{ run_id: run.short_id, tab: name }}
            aria-current={name === tab ? 'page' : undefined}
          >
            {title[language === 'zh' ? 1 : 0]}
          </Link>
        ))}
      </Tabs>
      {Content ? <Content run={run} /> : <Empty text={say.noTab} />}
    </div>
  )
}
