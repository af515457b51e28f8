import type { AnyRouter } from '@tanstack/react-router'
import { pages } from '../pages/all.ts'
import { belowBasePath } from '../session/base-path.ts'

/** What the next click most likely needs: menus, the palette, a run, a workspace, and what draws charts. */
const likely = [
  () => import('../design/menu-list.tsx'),
  () => import('../shell/palette.tsx'),
  pages['/runs/$run_id'],
  pages['/projects/$name'],
  () => import('../charts/plot.tsx'),
]

/** Loads it, and reads the first run or workspace that the page links to. */
export async function loadAhead(router: AnyRouter): Promise<void> {
  if (!(await loadInTurn())) return
  const link = document.querySelector<HTMLAnchorElement>(
    'main :is(a[href*="/runs/"], a[href*="/projects/"])',
  )
  if (link) void router.preloadRoute({ to: belowBasePath(link.pathname) })
}

/** One after another; false: the server is away or was upgraded. What needs the rest loads it again, and reports that. */
async function loadInTurn(): Promise<boolean> {
  for (const load of likely)
    try {
      await load()
    } catch {
      return false
    }
  return true
}
