import { mount } from 'svelte';

import './app.css';
import App from './App.svelte';
import { agents } from './app/agents.svelte';
import { live } from './app/live.svelte';

live.start();
const loadAgents = () => void agents.load();
loadAgents();
// Another version of the server may know more of them.
live.listen({ reload: loadAgents });
const target = document.getElementById('app')!;
// What stood there until now was only to be seen while the program was read.
target.replaceChildren();
mount(App, { target });
