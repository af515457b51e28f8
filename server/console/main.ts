import { buildConsole } from './build.ts'

// `npm run build`: builds the console ahead of the first server start, which would otherwise do it.
await buildConsole(text => console.log(text))
