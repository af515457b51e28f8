import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { datasetVersionDeleted } from '../../../../../schemas/datasets/datasets.ts'
import { Ask } from '../../design/ask.tsx'
import { Shown } from '../../design/notice.tsx'
import { addressOf, reread } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Named, pathOfVersion, type Version } from './paths.ts'
import { UserLink } from './uses.tsx'
import { words } from './words.ts'

type Deleted = Static<typeof datasetVersionDeleted>
type Props = { dataset: Named; version: Pick<Version, 'version' | 'ref'>; onClose: () => void }

/** Lists first what the deletion would break. It is forced only after that list, or the server's refusal, was shown. */
export function Delete({ dataset, version: { version, ref }, onClose }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { act, error, isBusy } = useAct()
  const path = pathOfVersion(dataset, version)
  const outcome = useQuery({
    queryKey: ['deletion', path],
    queryFn: () => request<Deleted>('DELETE', addressOf(path, { dry_run: true })),
    gcTime: 0,
    staleTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  })
  const broken = outcome.data?.would_break ?? []
  const wasRefused = error instanceof ApiFailure && error.code === 'dataset.in_use'
  const force = broken.length > 0 || wasRefused
  const remove = () =>
    act(async () => {
      await request('DELETE', addressOf(path, { force: force || undefined }))
      onClose()
      const { owner, name } = dataset
      await navigate({ to: '/datasets/$owner/$name', params: { owner, name }, search: {} })
      await reread('/api/datasets')
    })
  return (
    <Ask
      title={say.deleteOf(ref)}
      text={force ? say.deleteAnyway : say.delete}
      isDangerous
      busy={isBusy}
      unless={outcome.data === undefined && say.checking}
      error={error}
      onYes={() => void remove()}
      onClose={onClose}
    >
      <p>{say.permanent}</p>
      <Shown of={outcome}>
        {() =>
          broken.length === 0 ? (
            <p>{say.unused}</p>
          ) : (
            <>
              <p>{say.breaks}</p>
              <ul className={styles.users}>
                {broken.map(one => (
                  <li key={one.type + one.id}>
                    <UserLink of={one} />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Shown>
    </Ask>
  )
}
