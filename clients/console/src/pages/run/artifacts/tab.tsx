import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { artifact, downloadAddress } from '../../../../../../schemas/artifacts.ts'
import { Badge } from '../../../design/badge.tsx'
import { Button } from '../../../design/button.tsx'
import { Copyable } from '../../../design/copy.tsx'
import { Empty, Shown } from '../../../design/notice.tsx'
import { type Column, Table } from '../../../design/table.tsx'
import { Ago } from '../../../design/time.tsx'
import { reading } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { bytesOf } from '../../../words/amounts.ts'
import { useWords, wordsOf } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'

const words = wordsOf({
  none: ['No artifacts yet. Register one:', '还没有产物。登记示例：'],
  title: ['Artifacts', '产物'],
  path: ['Path', '路径'],
  kind: ['Kind', '类型'],
  status: ['State', '状态'],
  step: ['Step', '步数'],
  size: ['Size', '大小'],
  by: ['Registered', '登记于'],
  marks: ['Marks', '标记'],
  best: ['best', '最佳'],
  latest: ['latest', '最新'],
  protected: ['protected', '受保护'],
  use: ['Begin from it', '以此开始'],
  download: ['Download', '下载'],
})

type Artifact = Static<typeof artifact>

/** Where the bytes are is asked only when somebody wants them: the address is signed and does not last. */
async function fetchContent(id: string): Promise<void> {
  const { url } = await request<Static<typeof downloadAddress>>(
    'GET',
    `/api/artifacts/${id}/download-url`,
  )
  location.assign(url)
}

export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const list = useQuery(reading<Artifact[]>(`${pathOfRun(run.run_id)}/artifacts`, { limit: 200 }))
  const columns: Column<Artifact>[] = [
    { key: 'path', title: say.path, cell: ({ path }) => path },
    { key: 'kind', title: say.kind, cell: ({ kind }) => kind },
    { key: 'status', title: say.status, cell: ({ status }) => <Badge state={status} /> },
    { key: 'step', title: say.step, isNumber: true, cell: ({ step }) => step },
    {
      key: 'size',
      title: say.size,
      isNumber: true,
      cell: ({ size_bytes }) => size_bytes !== null && bytesOf(size_bytes),
    },
    { key: 'by', title: say.by, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: 'marks',
      title: say.marks,
      cell: one => marksOf(one).map(mark => <Badge key={mark} state="soft" text={say[mark]} />),
    },
    {
      key: 'get',
      title: '',
      cell: ({ artifact_id, path }) =>
        path.startsWith('forge://') && (
          <Button kind="quiet" onClick={() => void fetchContent(artifact_id)}>
            {say.download}
          </Button>
        ),
    },
    {
      key: 'use',
      title: say.use,
      cell: ({ init_from }) =>
        init_from && <Copyable text={`init_from: { artifact_id: ${init_from.artifact_id} }`} />,
    },
  ]
  return (
    <Shown of={list}>
      {rows =>
        rows.length === 0 ? (
          <Empty text={say.none}>
            <Copyable text={'forge.log_artifact("checkpoint", "model.pt", "torch", step=step)'} />
          </Empty>
        ) : (
          <Table
            caption={say.title}
            columns={columns}
            rows={rows}
            keyOf={({ artifact_id }) => artifact_id}
          />
        )
      }
    </Shown>
  )
}

const marksOf = ({ is_best, is_latest, protected_by }: Artifact) => [
  ...(is_best ? (['best'] as const) : []),
  ...(is_latest ? (['latest'] as const) : []),
  ...(protected_by.length > 0 ? (['protected'] as const) : []),
]
