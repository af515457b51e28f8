import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { savesData } from '../session/saves-data.ts'

/** After a page has been opened, in milliseconds: its own code and data are there by then. */
const restMs = 2_000

/** Once a page is at rest, loads what the next click most likely needs. */
export function useLoadAhead(pathname: string): void {
  const router = useRouter()
  useEffect(() => {
    if (pathname === undefined || savesData()) return
    const begin = () =>
      import('./ahead.ts').then(
        ({ loadAhead }) => loadAhead(router),
        // The server is away: whatever needs this code loads it again.
        () => {},
      )
    const timer = setTimeout(() => void begin(), restMs)
    return () => clearTimeout(timer)
  }, [pathname, router])
}
