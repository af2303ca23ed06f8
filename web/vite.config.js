// Two scripts without imports: the page's, and the worker's, which `vite build --mode worker` makes.
import { defineConfig } from 'vite';

export default defineConfig(({ mode }) => {
  const name = mode === 'worker' ? 'worker' : 'main';
  return {
    publicDir: name === 'main' ? 'public' : false,
    build: {
      target: 'es2022',
      emptyOutDir: name === 'main',
      reportCompressedSize: false,
      lib: { entry: `src/${name}.ts`, formats: ['iife'], name: 'b2', fileName: () => `${name}.js` },
    },
  };
});
