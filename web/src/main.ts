import { mount } from 'svelte';

import './app.css';
import App from './App.svelte';
import { live } from './app/live.svelte';

live.start();
mount(App, { target: document.getElementById('app')! });
