import { useNavigate } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { volumeDeleted } from '../../../../../schemas/volumes.ts'
import { Ask } from '../../design/ask.tsx'
import { Shown } from '../../design/notice.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useDeletion } from '../../session/use-deletion.ts'
import { useWords } from '../../words/words.ts'
import { type Detail, list, pathOf } from './paths.ts'
import { RunLink } from './runs.tsx'
import { words } from './words.ts'

type Deleted = Static<typeof volumeDeleted>

/** Names first the jobs that need the volume; while there are any, the server refuses. */
export function Delete({ volume, onClose }: { volume: Detail; onClose: () => void }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { act, error, isBusy } = useAct()
  const path = pathOf(volume)
  const outcome = useDeletion<Deleted>(path)
  const remove = () =>
    act(async () => {
      await request('DELETE', path)
      onClose()
      await navigate({ to: '/volumes', search: {} })
      await reread(list)
    })
  return (
    <Ask
      title={say.removeOf(volume.name)}
      text={say.remove}
      isDangerous
      busy={isBusy}
      unless={outcome.data === undefined && say.checking}
      onYes={() => void remove()}
      {...{ error, onClose }}
    >
      <p>{say.permanent}</p>
      <Shown of={outcome}>
        {({ would_break }) =>
          would_break.length === 0 ? (
            <p>{say.unused}</p>
          ) : (
            <>
              <p>{say.breaks}</p>
              <ul>
                {would_break.map(one => (
                  <li key={one.run_id}>
                    <RunLink of={one} />
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
