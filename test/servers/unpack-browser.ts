import chromium from '@sparticuz/chromium'

/** Run by chromium.ts: unpacks Chromium into `TMPDIR`. */
await chromium.executablePath()
