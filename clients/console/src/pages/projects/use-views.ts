import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Static } from 'typebox'
import type { viewRecord, viewRow } from '../../../../../schemas/views.ts'
import type { WorkspaceState } from '../../../../../schemas/workspace.ts'
import { addressOf, reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { isBare, searchOf } from './view-state.ts'

export type ViewRow = Static<typeof viewRow>
type ViewRecord = Static<typeof viewRecord>

const pathOfViews = (project: string): string =>
  `/api/projects/${encodeURIComponent(project)}/views`
const pathOfView = (project: string, view: string): string =>
  `${pathOfViews(project)}/${encodeURIComponent(view)}`

/** The views of a project that one may open, its own one first. */
export const readingViews = (project: string) =>
  reading<ViewRow[]>(pathOfViews(project), { limit: 500 })

type Name = { view: string; owner: string | null }

const readView = (project: string, { view, owner }: Name): Promise<ViewRecord> =>
  request('GET', addressOf(pathOfView(project, view), { owner }))

export async function saveView(
  project: string,
  view: string,
  body: { state: WorkspaceState; shared: boolean },
): Promise<void> {
  await request('PUT', pathOfView(project, view), { body })
  await reread(pathOfViews(project))
}

export async function removeView(project: string, view: string): Promise<void> {
  await request('DELETE', pathOfView(project, view), {})
  await reread(pathOfViews(project))
}

/** Saves a view under another name, or for other readers. */
export async function changeView(
  project: string,
  from: ViewRow,
  to: { view: string; shared: boolean },
): Promise<void> {
  const { state } = await readView(project, from)
  await request('PUT', pathOfView(project, to.view), { body: { state, shared: to.shared } })
  if (to.view !== from.view) await request('DELETE', pathOfView(project, from.view), {})
  await reread(pathOfViews(project))
}

/** Opens a view: its parameters become those of the address. */
export function useOpenView(project: string) {
  const navigate = useNavigate()
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return async (name: Name, replace = false): Promise<void> => {
    const { state } = await readView(project, name)
    // By now the address may be that of another page.
    if (isHere.current)
      await navigate({
        to: '.',
        search: { ...searchOf(state), view: name.view },
        ...{ replace, resetScroll: false },
      })
  }
}

/** Opens the default view where the address chooses nothing. True once the page can be shown. */
export function useDefaultView(project: string): boolean {
  const [isFirst] = useState(isBare(useSearch({ strict: false })))
  const [isDone, setDone] = useState(!isFirst)
  const views = useQuery({ ...readingViews(project), enabled: isFirst })
  const open = useOpenView(project)
  const own = views.data?.find(one => one.owner === null)
  const isRead = views.isFetched
  const isOpening = useRef(false)
  useEffect(() => {
    if (isDone || !isRead || isOpening.current) return
    isOpening.current = true
    if (own === undefined) setDone(true)
    else
      open(own, true).then(
        () => setDone(true),
        () => setDone(true),
      )
  })
  return isDone
}
