import { mount } from 'svelte';

import './app.css';
import App from './App.svelte';
import { live } from './app/live.svelte';

live.start();
const target = document.getElementById('app')!;
// What stood there until now was only to be seen while the program was read.
target.replaceChildren();
mount(App, { target });
