import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { pages } from '../pages/all.ts'
import { belowBasePath } from '../session/base-path.ts'
import { savesData } from '../session/saves-data.ts'

/** After a page has been opened, in milliseconds: its own code and data are there by then. */
const restMs = 2_000

/** What the next click most likely needs: menus, the palette, a run, a workspace, and what draws charts. */
const likely = [
  () => import('../design/menu-list.tsx'),
  () => import('../shell/palette.tsx'),
  pages['/runs/$run_id'],
  pages['/projects/$name'],
  () => import('../charts/plot.tsx'),
]

/** Once a page is at rest, loads what the next click most likely needs, and reads the first run or workspace it links to. */
export function useLoadAhead(pathname: string): void {
  const router = useRouter()
  useEffect(() => {
    if (pathname === undefined || savesData()) return
    const timer = setTimeout(async () => {
      if (!(await loadInTurn())) return
      const link = document.querySelector<HTMLAnchorElement>(
        'main :is(a[href*="/runs/"], a[href*="/projects/"])',
      )
      if (link) void router.preloadRoute({ to: belowBasePath(link.pathname) })
    }, restMs)
    return () => clearTimeout(timer)
  }, [pathname, router])
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
